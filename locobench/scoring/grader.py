"""Choose the program that grades a task's answers: the deterministic verifier, the judge, or a custom one."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from locobench.dataset.catalog import TEMPLATES
from locobench.shared.errors import InputError
from locobench.shared.installation import REPOSITORY

DETERMINISTIC: Literal["deterministic"] = "deterministic"
JUDGE: Literal["judge"] = "judge"

# With this line a custom verifier promises that the oracle scores 1.0 and an empty answer 0.0.
_ORACLE_CHECK = re.compile(rb"^ORACLE_CHECK(?:\s*:\s*\w+)?\s*=\s*True\s*(?:#.*)?$", re.MULTILINE)
_PACKAGE = REPOSITORY / "locobench"
# What a key may be scored by -> the program, which becomes a task's verify.py: the same module that makes the key.
SCORERS = {
    "evidence": _PACKAGE / "scoring/verify.py",
    "published": _PACKAGE / "scoring/published.py",
    "exact": _PACKAGE / "scoring/exact.py",
}
# The other modules that judge.py imports: the same ones that the harness uses, under the same names.
JUDGE_FILES = {
    f"tests/{path.relative_to(REPOSITORY)}": path
    for path in (
        _PACKAGE / "scoring/__init__.py",
        *sorted((_PACKAGE / "scoring/judge").glob("*.py")),
    )
}


@dataclass(frozen=True)
class CustomVerifier:
    """A user's own verify.py, which replaces the project's in every task."""

    name: str
    """The file's name, which task.toml records."""
    content: bytes
    oracle_check: bool
    """Whether the oracle must score 1.0 and an empty answer 0.0."""

    @classmethod
    def load(cls, path: Path) -> CustomVerifier:
        """Read a verifier, without running it; raise InputError if it is not valid Python."""
        try:
            content = path.read_bytes()
            ast.parse(content, path.name)
        except OSError as error:
            raise InputError(
                f"{path}: cannot be read: {error.strerror}; --verifier takes `{JUDGE}` or a Python file"
                " (docs/CUSTOM_VERIFIER.md)"
            ) from None
        except SyntaxError as error:
            raise InputError(f"{path}:{error.lineno or 1}: not valid Python: {error.msg}") from None
        except (ValueError, RecursionError, MemoryError) as error:
            raise InputError(f"{path}: not valid Python: {error or type(error).__name__}") from None
        return cls(path.name, content, _ORACLE_CHECK.search(content) is not None)


Grader = CustomVerifier | Literal["deterministic", "judge"]


def grader_name(grader: Grader) -> str:
    """Return the grader's name in task.toml."""
    return grader.name if isinstance(grader, CustomVerifier) else grader


def grader_files(grader: Grader, scorer: str) -> dict[str, bytes]:
    """Return the programs of a task's tests by path.

    Args:
        scorer: which of SCORERS the task's key is for.
    """
    files = {"tests/test.sh": (TEMPLATES / "tests/test.sh").read_bytes()}
    sources = {"tests/verify.py": SCORERS[scorer], "tests/locobench/reading.py": _PACKAGE / "reading.py"}
    if grader == JUDGE:
        sources |= JUDGE_FILES
        sources["tests/judge.py"] = TEMPLATES / "tests/judge.py"
    files |= {place: path.read_bytes() for place, path in sources.items()}
    return files | {"tests/verify.py": grader.content} if isinstance(grader, CustomVerifier) else files

"""Choose the program that scores a task's answers: one of the project's, or a user's own."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

from locobench.dataset.catalog import TEMPLATES
from locobench.shared.errors import InputError
from locobench.shared.installation import REPOSITORY

_PACKAGE = REPOSITORY / "locobench"
# What a key may be scored by -> the program, which becomes a task's verify.py: the same module that makes the key.
SCORERS = {
    "evidence": _PACKAGE / "scoring/verify.py",
    "published": _PACKAGE / "scoring/published.py",
    "exact": _PACKAGE / "scoring/exact.py",
}


@dataclass(frozen=True)
class CustomVerifier:
    """A user's own verify.py, which replaces the project's in every task."""

    name: str
    """The file's name, which task.toml records."""
    content: bytes

    @classmethod
    def load(cls, path: Path) -> CustomVerifier:
        """Read a verifier, without running it; raise InputError if it is not valid Python."""
        try:
            content = path.read_bytes()
            ast.parse(content, path.name)
        except OSError as error:
            raise InputError(
                f"{path}: cannot be read: {error.strerror}; --verifier takes a Python file (docs/CUSTOM_VERIFIER.md)"
            ) from None
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise InputError(f"{path}: not valid Python: {error or type(error).__name__}") from None
        return cls(path.name, content)


def grader_files(verifier: CustomVerifier | None, scorer: str) -> dict[str, bytes]:
    """Return the programs of a task's tests by path.

    Args:
        verifier: a user's own, in place of the project's.
        scorer: which of SCORERS the task's key is for.
    """
    return {
        "tests/test.sh": (TEMPLATES / "tests/test.sh").read_bytes(),
        "tests/locobench/reading.py": (_PACKAGE / "reading.py").read_bytes(),
        "tests/verify.py": verifier.content if verifier else SCORERS[scorer].read_bytes(),
    }

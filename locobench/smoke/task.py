"""Read a task directory: its language, its limits, its image's identity, and text that the image must not contain."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from locobench.harbor.task import TASK_FILE, TaskToml, base_image, task_folders
from locobench.shared.errors import InputError

# Plain characters read the same in Markdown and inside a JSON string, so one search finds both spellings.
_PLAIN_PIECE = re.compile(r"[ !#-\[\]-~]{24,200}")
_ANY_PIECE = re.compile(r'[^"\\\x00-\x1f]{8,200}')
_TELLTALES = 3
# The verifier's output, in its log folder.
OUTPUT = "test-stdout.txt"
_TEST_TARGET = re.compile(r"^test[ \t]*:(?!=)", re.MULTILINE)


class TaskError(Exception):
    """A task directory that cannot be used. The message is one line."""


@dataclass(frozen=True)
class SmokeTask:
    """A complete task directory."""

    path: Path
    toml: TaskToml
    base_image: str
    """The image that the Dockerfile builds on."""
    digest: str
    """SHA-256 (hex) over everything the image is built from: equal digests mean the same image."""
    has_project_tests: bool
    """Whether the project has a Makefile with a `test` target."""
    telltales: frozenset[bytes]
    """The longest pieces of the ground truth."""
    gives_itself_away: bool
    """Whether environment/ contains all of them. It may contain one, because a ground truth may quote the code."""

    @property
    def language(self) -> str:
        """The name of its language in the table of languages."""
        return self.toml.metadata.language


def find_task_folders(root: Path, names: list[str] | None = None) -> list[Path]:
    """Return the task directories in `root` (or `root` itself if it is one), sorted by name.

    Raises:
        InputError: as in `task_folders`, or one of `names` does not exist.
    """
    folders = task_folders(root)
    if names is None:
        return folders
    if unknown := sorted(set(names) - {path.name for path in folders}):
        raise InputError(f"{root}: no task named {', '.join(unknown)}; see `ls {root}`")
    return [path for path in folders if path.name in names]


def read_task_folder(path: Path) -> SmokeTask:
    """Read the task directory at `path`; raise TaskError if a file or field is missing or unreadable."""
    for needed in (TASK_FILE, "instruction.md", "environment/Dockerfile", "tests/test.sh", "solution/solve.sh"):
        if not (path / needed).is_file():
            raise TaskError(f"no {needed}")
    try:
        described = TaskToml.read(path)
    except InputError as error:
        raise TaskError(str(error).removeprefix(f"{path}/")) from None
    if not described.metadata.language:
        raise TaskError("task.toml: no metadata.language")
    image = base_image(path)
    if image is None:
        raise TaskError("environment/Dockerfile: no FROM")
    try:
        telltales = _telltales(path / "tests" / "ground_truth.json")
        digest, found = _scan(path / "environment", telltales)
        return SmokeTask(
            path=path,
            toml=described,
            base_image=image,
            digest=digest,
            has_project_tests=_has_test_target(path / "environment" / "project" / "Makefile"),
            telltales=telltales,
            gives_itself_away=bool(telltales) and telltales <= found,
        )
    except OSError as error:
        raise TaskError(f"{error.filename}: {error.strerror}") from None


def read_reward(folder: Path) -> float:
    """Return the reward that test.sh wrote to `folder`; as in Harbor, reward.json takes precedence.

    Raises:
        TaskError: there is no reward, it is not a number between 0 and 1, or the verifier raised an exception.
    """
    output = folder / OUTPUT
    said = output.read_text(encoding="utf-8", errors="replace").strip() if output.is_file() else ""
    if "Traceback (most recent call last):" in said and not (folder / "metrics.json").exists():
        raise TaskError(f"the verifier raised {said.splitlines()[-1].strip()[:200]}")
    try:
        if (folder / "reward.json").exists():
            value = json.loads((folder / "reward.json").read_text(encoding="utf-8"))["reward"]
        else:
            value = (folder / "reward.txt").read_text(encoding="utf-8").strip()
        reward = float(value)
    except FileNotFoundError:
        raise TaskError("test.sh wrote no reward") from None
    except (OSError, ValueError, KeyError, TypeError):
        raise TaskError("test.sh wrote a reward that cannot be read") from None
    if not 0 <= reward <= 1:
        raise TaskError(f"test.sh wrote the reward {reward:g}, which is not between 0 and 1")
    return reward


def _scan(folder: Path, pieces: frozenset[bytes]) -> tuple[str, set[bytes]]:
    """Return a digest of everything in the folder, and the pieces that occur in its files."""
    digest = hashlib.sha256()
    found: set[bytes] = set()
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            stands_for = str(path.readlink()).encode()
        elif path.is_file():
            content = path.read_bytes()
            found |= {piece for piece in pieces - found if piece in content}
            stands_for = hashlib.sha256(content).digest() + bytes([bool(path.stat().st_mode & 0o100)])
        else:
            continue
        digest.update(str(path.relative_to(folder)).encode(errors="surrogateescape") + b"\0" + stands_for + b"\n")
    return digest.hexdigest(), found


def _has_test_target(makefile: Path) -> bool:
    return makefile.is_file() and bool(_TEST_TARGET.search(makefile.read_text(encoding="utf-8", errors="replace")))


def _telltales(ground_truth: Path) -> frozenset[bytes]:
    """Return the longest pieces of the ground truth."""
    try:
        truth = json.loads(ground_truth.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise TaskError(f"no tests/{ground_truth.name}") from None
    except ValueError as error:
        raise TaskError(f"tests/{ground_truth.name}: {error}") from None
    # Skip the key: it contains lines of the code, which the image has too.
    texts = list(_texts(truth.get("ground_truth", truth) if isinstance(truth, dict) else truth))
    for kind in (_PLAIN_PIECE, _ANY_PIECE):
        pieces = {piece.strip() for text in texts for piece in kind.findall(text)}
        if pieces:
            break
    longest = sorted(pieces, key=lambda piece: (-len(piece), piece))[:_TELLTALES]
    return frozenset(piece.encode() for piece in longest)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)

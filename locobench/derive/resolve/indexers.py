"""Make SCIP indexes with the indexers that are installed: in a copy, offline, without the repository's programs."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from locobench.derive.code.tree import Repository, Tree, write_tree
from locobench.shared.errors import InputError

LONGEST = 1800.0
"""Seconds for one indexer: scip-python takes 40 of processor time for click's 29,000 lines with its tests."""
_ISOLATED = ("--user", "--map-root-user", "--net", "--pid", "--fork", "--kill-child=KILL")
"""Options of util-linux's unshare: no network, and nothing that an indexer starts outlives it."""
_ACTIVE = {".cargo", "rust-toolchain", "rust-toolchain.toml"}
"""Names that are not copied: they choose the programs that cargo and rustup run."""
_LAUNCHERS = ("sh", "dirname", "sed", "uname")
"""What the shell scripts call that npm and pnpm put before a program."""


@dataclass(frozen=True)
class Indexer:
    """A program that writes a SCIP index."""

    program: str
    arguments: tuple[str, ...]
    """With {copy} for the folder of the code, {index} for the file to write and {home} for the program's home."""
    install: str
    needs: tuple[str, ...] = ("node",)
    """The only other programs that it finds."""
    settings: dict[str, object] = field(default_factory=dict)
    """Path -> JSON of a file to write first, in place of the repository's."""


_PYTHON = Indexer(
    "scip-python",
    ("index", "--cwd", "{copy}", "--output", "{index}", "--project-name", "project", "--project-version", "1",
     "--environment", "{home}/environment.json", "--quiet"),
    "npm install -g @sourcegraph/scip-python",
    # Without the list of packages it asks pip, and its results depend on what is installed.
    settings={
        "{home}/environment.json": [], "{copy}/pyrightconfig.json": {"include": ["."], "pythonPlatform": "All"},
    },
)  # fmt: skip
_TYPESCRIPT = Indexer(
    "scip-typescript",
    ("index", "--cwd", "{copy}", "--output", "{index}", "--no-progress-bar", "--infer-tsconfig"),
    "npm install -g @sourcegraph/scip-typescript",
)
_RUST = Indexer(
    "rust-analyzer",
    ("scip", "{copy}", "--output", "{index}", "--config-path", "{home}/settings.json"),
    "rustup component add rust-analyzer rust-src",
    needs=("cargo", "rustc"),
    settings={"{home}/settings.json": {"cargo": {"buildScripts": {"enable": False}}, "procMacro": {"enable": False}}},
)
INDEXERS = {"python": _PYTHON, "typescript": _TYPESCRIPT, "javascript": _TYPESCRIPT, "rust": _RUST}


def make_index(language: str, repository: Repository, tree: Tree, folder: Path) -> tuple[Path, str]:
    """Return the SCIP index of a commit for a language, and a line that says how it was made.

    Args:
        folder: where indexes are kept: one program's index may be of several languages.

    Raises:
        InputError: there is no index; the message says why.
    """
    indexer = INDEXERS.get(language)
    if indexer is None:
        raise InputError("no indexer is known")
    index = folder / f"{indexer.program}.scip"
    try:
        if not index.exists():
            _run(indexer, repository, tree, index)
    except OSError as error:
        raise InputError(f"{indexer.program} failed: {error.strerror or error}") from None
    return index, f"{indexer.program} ran" + ("" if _isolation() else ", without `unshare` to cut it off the network")


def _run(indexer: Indexer, repository: Repository, tree: Tree, index: Path) -> None:
    """Run an indexer on a copy of the commit.

    Raises:
        InputError: it is not installed.
        OSError: it failed.
    """
    program = _find(indexer.program, repository.folder)
    if program is None:
        raise InputError(f"{indexer.program} is not installed (`{indexer.install}`)")
    base = Path(tempfile.mkdtemp(dir=index.parent))
    places = {"copy": base / "copy", "home": base / "home", "index": base / "index"}
    passive = (one for one in tree.blobs if not one.is_link and _ACTIVE.isdisjoint(one.path.split("/")))
    write_tree(repository, tree._replace(blobs=tuple(passive)), places["copy"])
    programs = places["home"] / "bin"
    programs.mkdir(parents=True)
    for name in (*indexer.needs, *_LAUNCHERS):
        if needed := _find(name, repository.folder):
            (programs / name).symlink_to(needed)
    for path, content in indexer.settings.items():
        Path(path.format(**places)).write_text(json.dumps(content), encoding="utf-8")
    _run_watched([program, *(one.format(**places) for one in indexer.arguments)], places["home"], base / "output")
    if not places["index"].is_file() or not places["index"].stat().st_size:
        raise ChildProcessError("it wrote no index")
    places["index"].rename(index)


def _run_watched(command: list[str], home: Path, output: Path) -> None:
    """Run a command for LONGEST seconds at most; raise ChildProcessError if it fails."""
    # Nothing else of the user's environment: it holds keys, and settings that name programs.
    environment = {
        "HOME": str(home), "TMPDIR": str(home), "PATH": str(home / "bin"), "LC_ALL": "C.UTF-8",
        "RUSTUP_HOME": os.environ.get("RUSTUP_HOME") or str(Path.home() / ".rustup"),
        "CARGO_HOME": os.environ.get("CARGO_HOME") or str(Path.home() / ".cargo"), "CARGO_NET_OFFLINE": "true",
    }  # fmt: skip
    with output.open("wb") as said:
        process = subprocess.Popen(
            [*_isolation(), *command], cwd=home, env=environment, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=said, stderr=said,
        )  # fmt: skip
        try:
            code = process.wait(LONGEST)
        except subprocess.TimeoutExpired:
            raise ChildProcessError(f"not done within {LONGEST:g} s") from None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if code:
        lines = output.read_bytes()[-4000:].decode("utf-8", "replace").strip().splitlines()
        errors = [line for line in lines if re.match(r"\s*(\w*error|fatal)\b", line, re.IGNORECASE)] or lines[-1:]
        raise ChildProcessError(", ".join([f"exit code {code}", *(line.strip()[:200] for line in errors[:1])]))


def _find(name: str, repository: Path) -> str | None:
    """Return the path of a program outside the repository."""
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = shutil.which(name, path=folder) if Path(folder).is_absolute() else None
        if path and not any(one.is_relative_to(repository) for one in (Path(path), Path(path).resolve())):
            return path
    return None


@cache
def _isolation() -> tuple[str, ...]:
    """Return the command that cuts a program off the network, or nothing where the system has none."""
    command = (shutil.which("unshare", path=os.defpath) or "unshare", *_ISOLATED)
    try:
        return () if subprocess.run([*command, "/bin/sh", "-c", ":"], capture_output=True).returncode else command
    except OSError:
        return ()

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
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import TracebackType

from locobench.derive.code.tree import Repository, Tree, write_tree

LONGEST = 1800.0
"""Seconds for one indexer: scip-python takes 40 of processor time for click's 29,000 lines with its tests."""
_ISOLATED = ("--user", "--map-root-user", "--net", "--pid", "--fork", "--kill-child=KILL")
"""Options of util-linux's unshare: no network, and nothing that an indexer starts outlives it."""
_ACTIVE = {".cargo", "rust-toolchain", "rust-toolchain.toml"}
"""Names that are not copied: they choose the programs that cargo and rustup run."""


@dataclass(frozen=True)
class Indexer:
    """A program that writes a SCIP index."""

    program: str
    arguments: tuple[str, ...]
    """With {copy} for the folder of the code, {index} for the file to write and {home} for the files in `settings`."""
    install: str
    needs: tuple[str, ...] = ("node",)
    """The only other programs that it finds."""
    settings: dict[str, object] = field(default_factory=dict)
    """Name -> JSON of a file in the indexer's home."""
    own: dict[str, object] = field(default_factory=dict)
    """Name -> JSON of a file in the copy, in place of the repository's."""


_PYTHON = Indexer(
    "scip-python",
    ("index", "--cwd", "{copy}", "--output", "{index}", "--project-name", "project", "--project-version", "1",
     "--environment", "{home}/environment.json", "--quiet"),
    "npm install -g @sourcegraph/scip-python",
    # Without this list it asks pip, and its results depend on what is installed.
    settings={"environment.json": []},
    own={"pyrightconfig.json": {"include": ["."], "pythonPlatform": "All"}},
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
    settings={"settings.json": {"cargo": {"buildScripts": {"enable": False}}, "procMacro": {"enable": False}}},
)
INDEXERS = {"python": _PYTHON, "typescript": _TYPESCRIPT, "javascript": _TYPESCRIPT, "rust": _RUST}


class Indexes:
    """The indexes of a commit: each indexer runs when a language first asks for it, in a temporary folder."""

    def __init__(self, repository: Repository, tree: Tree) -> None:
        self.repository, self.tree = repository, tree
        self._made: dict[str, Path | str] = {}

    def __enter__(self) -> Indexes:
        self._folder = tempfile.TemporaryDirectory(prefix="scip-", ignore_cleanup_errors=True)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._folder.cleanup()

    def index(self, language: str) -> tuple[Path | None, str]:
        """Return the index for a language, or None; and a line that says what was done."""
        indexer = INDEXERS.get(language)
        if indexer is None:
            return None, "no indexer is known"
        if indexer.program not in self._made:
            self._made[indexer.program] = self._run(indexer)
        made = self._made[indexer.program]
        if isinstance(made, str):
            return None, made
        return made, f"{indexer.program} ran" + (
            "" if _isolation() else ", without `unshare` to cut it off the network"
        )

    def _run(self, indexer: Indexer) -> Path | str:
        """Run an indexer and return its index, or why there is none."""
        program = self._find(indexer.program)
        if program is None:
            return f"{indexer.program} is not installed (`{indexer.install}`)"
        base = Path(self._folder.name) / indexer.program
        copy, home, index = base / "copy", base / "home", base / "index.scip"
        try:
            home.mkdir(parents=True)
            passive = (
                blob for blob in self.tree.blobs if not blob.is_link and _ACTIVE.isdisjoint(blob.path.split("/"))
            )
            write_tree(self.repository, replace(self.tree, blobs=tuple(passive)), copy)
            for folder, files in ((home, indexer.settings), (copy, indexer.own)):
                for name, content in files.items():
                    (folder / name).write_text(json.dumps(content), encoding="utf-8")
            (home / "bin").mkdir()
            for name in (
                *indexer.needs,
                "sh",
                "dirname",
                "sed",
                "uname",
            ):  # npm's and pnpm's launchers are shell scripts
                if needed := self._find(name):
                    (home / "bin" / name).symlink_to(needed)
            filled = [one.format(copy=copy, index=index, home=home) for one in indexer.arguments]
            failure = self._run_watched([program, *filled], home, base / "output")
            if failure is None and not (index.is_file() and index.stat().st_size):
                failure = "it wrote no index"
        except OSError as error:
            failure = error.strerror or str(error)
        return index if failure is None else f"{indexer.program} failed: {failure}"

    def _run_watched(self, command: list[str], home: Path, output: Path) -> str | None:
        """Run a command for LONGEST seconds at most; return why it failed, or None."""
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
                return f"not done within {LONGEST:g} s"
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if not code:
            return None
        lines = [line.strip() for line in output.read_bytes()[-4000:].decode("utf-8", "replace").splitlines()]
        errors = [line for line in lines if re.match(r"(\w*error|fatal)\b", line, re.IGNORECASE)] or [
            *filter(None, lines)
        ][-1:]
        return f"exit code {code}" + (f", {errors[0][:200]}" if errors else "")

    def _find(self, name: str) -> str | None:
        """Return the path of a program outside the repository."""
        inside = self.repository.folder
        for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
            path = shutil.which(name, path=folder) if Path(folder).is_absolute() else None
            if path and not any(one.is_relative_to(inside) for one in (Path(path), Path(path).resolve())):
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

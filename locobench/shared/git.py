"""Every call of git: none runs a program that a repository's configuration, attributes or environment name."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from locobench.shared.errors import InputError

# What is asked of a user's repository reads its objects; of its programs only those for diffs and signatures could run.
_HARMLESS = {
    "core.fsmonitor": "false", "core.hooksPath": os.devnull, "diff.external": "", "log.showSignature": "false",
    "core.quotePath": "false", "protocol.allow": "never", "gc.auto": "0",
}  # fmt: skip
_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_ATTR_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_NO_REPLACE_OBJECTS": "1", "LC_ALL": "C", "TZ": "UTC",
}  # fmt: skip


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return an environment without the caller's GIT_* variables: they may name programs or another repository."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "SSH_ASKPASS"))}
    return kept | _ENVIRONMENT | dict(more or {})


def command(folder: Path, *arguments: str) -> list[str]:
    """Return the command line for git in `folder`; raise InputError if git is not installed."""
    if shutil.which("git") is None:
        raise InputError("git: not found; install it")
    settings = (part for key, value in _HARMLESS.items() for part in ("-c", f"{key}={value}"))
    trusted = (part for path in _trusted_folders() for part in ("-c", f"safe.directory={path}"))
    return ["git", "--no-pager", "-C", str(folder), *settings, *trusted, *arguments]


def run(folder: Path, *arguments: str, env: Mapping[str, str] | None = None) -> str:
    """Run git in `folder` and return its output without the last newline.

    Args:
        env: more variables, such as an author's name.

    Raises:
        InputError: git is not installed, or failed; the message ends with its last line.
    """
    done = subprocess.run(command(folder, *arguments), capture_output=True, env=environment(env), check=False)
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise InputError(f"{folder}: git {arguments[0]}: {said[-1] if said else 'failed'}")
    return done.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")


def start(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """Start git in `folder`, with pipes for its input and output."""
    pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
    return subprocess.Popen(command(folder, *arguments), stdin=pipe, stdout=pipe, stderr=nowhere, env=environment())


@cache
def _trusted_folders() -> tuple[str, ...]:
    """Return the folders of other users that this user trusts: the one setting of theirs that is followed."""
    asked = ["git", "config", "--global", "--null", "--get-all", "safe.directory"]
    done = subprocess.run(asked, capture_output=True, cwd=os.sep, check=False)
    return tuple(path for path in done.stdout.decode("utf-8", "surrogateescape").split("\0") if path)

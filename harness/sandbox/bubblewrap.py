"""The sandbox of namespaces, made by bubblewrap: a command writes nowhere but where it should, without an engine."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

from harness.errors import InputError
from harness.host.processes import Finished, Limits, StopCause
from harness.sandbox.place import CAPABILITIES, Command, Sandbox, SandboxError, ThisMachine, outermost

PROGRAM = "bwrap"
OWN_ERROR = b"bwrap: "
"""Begins what bubblewrap says when it cannot start a command; its exit code is 1 then."""

NAMESPACES = ("--die-with-parent", "--unshare-pid", "--unshare-ipc", "--unshare-uts")


class Bubblewrap(ThisMachine):
    """Commands see this machine for reading, without other processes, temporary files and what is hidden from them."""

    identity = "bubblewrap"

    def __init__(self) -> None:
        """Nothing is hidden yet."""
        self._hidden: set[Path] = set()
        self._lock = threading.Lock()

    def prepare(self, program: str) -> None:
        """See that bubblewrap works here; InputError when it does not."""
        if not works():
            raise InputError(
                f"{PROGRAM} is not installed or may make no namespaces here; install bubblewrap, or leave out --sandbox"
            )

    def hide(self, paths: Iterable[Path]) -> None:
        """Let no later command see these files and folders."""
        with self._lock:
            self._hidden.update(path.absolute() for path in paths)

    def run(self, command: Command) -> Finished:
        """Run a command below a guardian, in namespaces of its own; SandboxError when they cannot be made."""
        with self._lock:
            hidden = sorted(self._hidden)
        path = os.pathsep.join([str(Path(command.argv[0]).parent), command.env.get("PATH", "")])
        before = fence(command.cwd, path, command.writes, command.reads, hidden)
        finished = command.run(before)
        # The command may have said so itself, to be taken for no fault of its own: whether the fence can be made tells.
        if finished.returncode == 1 and finished.stderr.startswith(OWN_ERROR):
            probe = Command(["true"], command.cwd, command.env, Limits(wall=10.0)).run(before)
            if probe.cause is StopCause.EXITED and probe.returncode != 0:
                raise SandboxError(probe.stderr.decode(errors="replace").strip())
        return finished


def fence(cwd: Path, path: str, writes: Sequence[Path], reads: Sequence[Path], hidden: Sequence[Path]) -> list[str]:
    """Arguments before those of a command.

    Args:
        cwd: where it runs, and may write.
        path: folders of programs; what lies beside one of them stays in sight, should it be a temporary file.
        writes: folders that it may write to besides.
        reads: files and folders that stay in sight.
        hidden: files and folders that do not.
    """
    privileges = ["--cap-drop", "ALL", *(word for name in CAPABILITIES for word in ("--cap-add", f"CAP_{name}"))]
    command = [PROGRAM, *NAMESPACES, *(privileges if os.geteuid() == 0 else [])]
    command += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    temporary = _temporary()
    for folder in temporary:
        command += ["--tmpfs", str(folder)]
    folders = outermost([cwd, *writes])
    programs = [Path(entry).parent for entry in path.split(os.pathsep) if entry.startswith("/")]
    in_sight = [place for place in programs if any(place.is_relative_to(folder) for folder in temporary)]
    for place in outermost([*in_sight, *reads], folders):
        command += ["--ro-bind-try", str(place), str(place)]
    for place in hidden:
        if place.is_dir():
            command += ["--tmpfs", str(place)]
        elif place.is_file():
            command += ["--ro-bind", os.devnull, str(place)]
    for folder in folders:
        command += ["--bind", str(folder), str(folder)]
    return [*command, "--chdir", str(cwd), "--"]


def _temporary() -> list[Path]:
    """Where temporary files are, the folders of other runs among them."""
    ours = Path(tempfile.gettempdir()).resolve()
    return outermost([Path("/tmp"), Path("/var/tmp"), *([] if ours == Path.cwd() else [ours])])


def works() -> bool:
    """Whether bubblewrap is installed and this user may make namespaces: a container often may not."""
    found = shutil.which(PROGRAM)
    return found is not None and _makes_namespaces(found)


@functools.cache
def _makes_namespaces(program: str) -> bool:
    command = [*fence(Path(tempfile.gettempdir()), "", [], [], []), "true"]
    return subprocess.run([program, *command[1:]], capture_output=True, timeout=30).returncode == 0


def place_of_checks() -> Sandbox:
    """Where checks run unless something else is chosen: behind bubblewrap where it works."""
    return Bubblewrap() if works() else ThisMachine()

"""The Docker sandbox: passes few of the user's variables in, and leaves no container behind.

Everything goes through the `docker` command, which finds the engine as the user's own calls do.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from harness.errors import InputError
from harness.host import scratch
from harness.host.processes import Command, Finished, Limits, StopCause
from harness.host.variables import passed_variables, tool_environment
from harness.sandbox.place import Sandbox, SandboxError

DEFAULT_IMAGE = "harness-sandbox"
"""The image that the Dockerfile beside this file is for."""
LABEL = "harness.sandbox"
"""Label of every container; its value is drawn at random for each sandbox."""

OF_THIS_MACHINE = ("PATH", "HOME", "SHELL", "USER", "LOGNAME")
"""Variables that have no meaning in a container."""

SPARE_SECONDS = 120
"""Seconds after a command's time limit at which its container ends by itself, if nobody is left to end it."""

CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID")
"""What root may do in a sandbox: enough to install a package, but no devices, mounts or raw network."""

MOST_PROCESSES = 4096
ENGINE_SECONDS = 120
"""How long the engine may take to answer."""

REAPER = """\
trap '' TERM INT HUP
cat
SECONDS=0 quiet=0
while ((quiet++ < 4 && SECONDS < 60)); do
  for id in $("$0" ps --all --quiet --filter "label=$1"); do "$0" rm --force --volumes "$id"; quiet=0; done
  sleep 0.2
done
"""
"""Removes a sandbox's containers when the harness has ended, however it ended.

Its standard input is a pipe that only the harness holds: the kernel closes it with the harness. Then it looks until it
has found none several times, since the engine may still be creating one.
"""


class DockerSandbox(Sandbox):
    """Runs each command in a new container, which is removed when the command or the harness ends."""

    def __init__(self, image: str = DEFAULT_IMAGE) -> None:
        """`image` has the claude CLI and what the checks need; the engine is not contacted yet."""
        self.image = image
        self._lock = threading.RLock()
        self._ready: set[str] = set()
        self._docker = ""
        self._label = f"{LABEL}={secrets.token_hex(8)}"
        self._reaper: subprocess.Popen[bytes] | None = None

    @property
    def identity(self) -> str:
        """The name of the image."""
        return f"docker {self.image}"

    def prepare(self, program: str) -> None:
        """Connect, and check that the program runs in the image.

        InputError if there is no engine, no image or no such program in it, or the engine does not see our files.
        """
        with self._lock:
            if program in self._ready:
                return
            _refuse_loopback(self.agent_variables())
            self._connect()
            try:
                self._call("image", "inspect", self.image)
            except SandboxError:
                way_out = f"docker build --tag {self.image} {Path(__file__).parent}"
                raise InputError(f"the Docker engine has no image {self.image}; make it: {way_out}") from None
            self._try(program)
            self._ready.add(program)

    def agent_variables(self) -> dict[str, str]:
        """Return the variables for language, network access and credentials; files that they name are mounted."""
        return {**_without_machine(passed_variables()), "IS_SANDBOX": "1"}

    def tool_variables(self) -> dict[str, str]:
        """Return the variables for language and network access."""
        return _without_machine(tool_environment())

    def run(self, command: Command) -> Finished:
        """Run a command in its own container; SandboxError if it cannot be started or is lost."""
        self._connect()
        container = self._create(command)
        try:
            attached = [self._docker, "start", "--attach", "--interactive", container]
            asked_at = datetime.now(UTC)
            finished = replace(command, argv=attached, env=os.environ).run()
            if finished.cause is not StopCause.EXITED:
                return finished
            told = "{{.State.Status}} {{.State.StartedAt}} {{.State.ExitCode}}"
            status, started_at, code = self._call("inspect", "--format", told, container).split()
            if status != "exited":
                raise SandboxError(_last_line(finished.stderr.decode(errors="replace")))
            # The second that a container takes to start is not the command's time.
            late = (datetime.fromisoformat(started_at) - asked_at).total_seconds()
            return replace(finished, returncode=int(code), duration_seconds=finished.duration_seconds - late)
        finally:
            with contextlib.suppress(SandboxError):
                self._call("rm", "--force", "--volumes", container)

    def _create(self, command: Command) -> str:
        """Create a container that sees only the folders of this machine that the command needs; return its id."""
        named = [Path(value) for value in command.env.values() if value.startswith("/") and Path(value).is_file()]
        folders = _outermost([command.cwd, *command.writes])
        mounts = [f"--mount={_mount(path)}" for path in folders]
        mounts += [f"--mount={_mount(path)},readonly" for path in _outermost([*command.reads, *named], folders)]
        # `timeout` is the first process: it ends the container even if the harness, its reaper and the engine are gone.
        bounded = ["timeout", "-k", "5", str(int(command.limits.wall) + SPARE_SECONDS), *command.argv]
        return self._call(
            "create",
            "--interactive",
            "--pull=never",
            "--entrypoint=",
            f"--workdir={command.cwd}",
            f"--user={os.getuid()}:{os.getgid()}",
            f"--label={self._label}",
            "--cap-drop=ALL",
            *(f"--cap-add={name}" for name in CAPABILITIES),
            "--security-opt=no-new-privileges",
            f"--pids-limit={MOST_PROCESSES}",
            "--log-driver=none",  # else endless output would fill the disk with the engine's log
            *(f"--env={name}" for name in command.env),  # the values are secret: other users see arguments
            *mounts,
            self.image,
            *bounded,
            env=command.env,
        )

    def _call(self, *arguments: str, env: Mapping[str, str] | None = None) -> str:
        """Run a docker command and return its output; SandboxError with its last line if it fails."""
        config = os.environ.get("DOCKER_CONFIG") or str(Path.home() / ".docker")
        try:
            done = subprocess.run(
                [self._docker, *arguments],
                env={**os.environ, **(env or {}), "DOCKER_CONFIG": config},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=ENGINE_SECONDS,
                check=True,
            )
        except subprocess.CalledProcessError as error:
            raise SandboxError(_last_line(error.stderr)) from None
        except subprocess.TimeoutExpired:
            raise SandboxError(f"the Docker engine did not answer within {ENGINE_SECONDS} s") from None
        return done.stdout.strip()

    def _connect(self) -> None:
        """Find the engine, and start the reaper; InputError if no engine answers."""
        with self._lock:
            if self._reaper is not None:
                return
            way_out = "or leave out --sandbox docker"
            self._docker = shutil.which("docker") or ""
            if not self._docker:
                raise InputError(f"the docker command is not on PATH; install it, {way_out}")
            try:
                self._call("version")
            except SandboxError as error:
                raise InputError(f"no Docker engine answers ({error}); start one, {way_out}") from None
            devnull = subprocess.DEVNULL
            self._reaper = subprocess.Popen(
                ["bash", "-c", REAPER, self._docker, self._label],
                stdin=subprocess.PIPE,
                stdout=devnull,
                stderr=devnull,
                start_new_session=True,
                cwd="/",
            )

    def _try(self, program: str) -> None:
        with scratch.folder("probe_") as folder:
            number = secrets.token_hex(8)
            (folder / "number").write_text(number)
            argv = ["sh", "-c", 'cat number; exec "$0" --version', program]
            env = {**self.tool_variables(), "HOME": str(folder)}
            try:
                finished = self.run(Command(argv, folder, env, Limits(wall=60.0)))
            except SandboxError as error:
                raise InputError(f"no container can be started of {self.image} ({error})") from None
        if not finished.stdout.startswith(number.encode()):
            raise InputError("the Docker engine does not see this machine's files; use one that runs here")
        if finished.returncode != 0:
            lines = finished.stderr.decode(errors="replace").strip().splitlines() or ["no output"]
            raise InputError(f"{program} does not run in {self.image} ({lines[-1]}); name another --sandbox-image")


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip() and "--help" not in line]
    return lines[-1] if lines else "the docker command failed without a word"


def _mount(path: Path) -> str:
    """Return a folder of this machine at its own path, in the form of --mount, which is a line of CSV."""
    quoted = str(path).replace('"', '""')
    return f'type=bind,"src={quoted}","dst={quoted}"'


def _outermost(paths: Sequence[Path], within: Sequence[Path] = ()) -> list[Path]:
    """Return the paths that are not inside another one of them or inside one of `within`."""
    found: list[Path] = []
    for path in sorted(dict.fromkeys(paths), key=lambda path: len(path.parts)):
        if not any(path.is_relative_to(other) for other in [*within, *found]):
            found.append(path)
    return found


def _without_machine(variables: Mapping[str, str]) -> dict[str, str]:
    """Remove variables that only mean something on this machine, or that name its folders."""
    return {
        name: value
        for name, value in variables.items()
        if name not in OF_THIS_MACHINE and not (value.startswith("/") and not Path(value).is_file())
    }


def _refuse_loopback(variables: Mapping[str, str]) -> None:
    for name, value in variables.items():
        if not name.upper().endswith(("_URL", "_PROXY")) or name.upper() == "NO_PROXY":
            continue
        host = urlsplit(value if "//" in value else f"//{value}").hostname or ""
        if host in ("localhost", "::1") or host.startswith("127."):
            text = f"{name}={value}: in a container that is the container itself; give an address of this machine"
            raise InputError(f"{text} that containers reach")

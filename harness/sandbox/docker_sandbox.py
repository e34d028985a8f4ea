"""The Docker sandbox: passes few of the user's variables in, and leaves no container behind."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from docker.types import Mount

from harness.models import Resources
from harness.sandbox import scratch
from harness.sandbox.place import DEFAULT_IMAGE, Sandbox, SandboxError
from harness.sandbox.processes import Command, Limits, ProcessResult, StopCause
from locobench.containers.container import Container, EngineError
from locobench.containers.container import Limits as ContainerLimits
from locobench.containers.engine import Engine
from locobench.shared.errors import InputError

OF_THIS_MACHINE = ("PATH", "HOME", "SHELL", "USER", "LOGNAME")
"""Variables that have no meaning in a container."""

CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID")
"""What root may do in a sandbox: enough to install a package, but no devices, mounts or raw network."""


class DockerSandbox(Sandbox):
    """Runs each command in a new container, which is removed when the command or the harness ends."""

    def __init__(self, image: str = DEFAULT_IMAGE, resources: Resources = Resources()) -> None:  # noqa: B008 - frozen
        """`image` has the claude CLI and what the checks need; the engine is not contacted yet."""
        self.image, self._resources = image, resources

    @property
    def identity(self) -> str:
        """The name of the image."""
        return f"docker {self.image}"

    def within(self, resources: Resources) -> DockerSandbox:
        """Return this sandbox with containers that have these limits."""
        return DockerSandbox(self.image, resources)

    def prepare(self, program: str) -> None:
        """Connect, and check that the program runs in the image; InputError if it does not."""
        _refuse_loopback(self.agent_variables())
        _try(self.image, program)

    def agent_variables(self) -> dict[str, str]:
        """Return the variables for language, network access and credentials; files that they name are mounted."""
        return {**_without_machine(super().agent_variables()), "IS_SANDBOX": "1"}

    def tool_variables(self) -> dict[str, str]:
        """Return the variables for language and network access."""
        return _without_machine(super().tool_variables())

    def run(self, command: Command) -> ProcessResult:
        """Run a command in its own container; SandboxError if it cannot be started or is lost."""
        limits = ContainerLimits(command.limits.wall + command.limits.grace, **self._resources.model_dump())
        try:
            with self._create(command, limits) as container:
                container.watch()
                finished = replace(command, argv=container.start_attached, env=os.environ).run()
                if container.over_storage:
                    return replace(finished, cause=StopCause.STORAGE, returncode=None)
                if finished.cause is not StopCause.EXITED:
                    return finished
                return replace(finished, returncode=container.exit_code())
        except FileNotFoundError:
            raise SandboxError("the docker command is not on PATH; install it") from None
        except EngineError as error:
            raise SandboxError(str(error)) from None

    def _create(self, command: Command, limits: ContainerLimits) -> contextlib.AbstractContextManager[Container]:
        """Create a container that sees only the folders of this machine that the command needs."""
        named = [Path(value) for value in command.env.values() if value.startswith("/") and Path(value).is_file()]
        folders = _outermost([command.cwd, *command.writes])
        mounts = [Mount(str(path), str(path), "bind") for path in folders]
        only_read = _outermost([*command.reads, *named], folders)
        mounts += [Mount(str(path), str(path), "bind", read_only=True) for path in only_read]
        found = find_engine()
        rootless = "name=rootless" in (found.info.get("SecurityOptions") or ())  # its root is this user
        user, group = (0, 0) if rootless else (os.getuid(), os.getgid())
        # The first process, which ends the container in time, is root with one capability that the agent does not get.
        # Else the agent could stop it as a debugger does.
        as_user = ["setpriv", f"--reuid={user}", f"--regid={group}", "--clear-groups"]
        as_user += ["--inh-caps=-setpcap", "--bounding-set=-setpcap"]
        return found.container(
            self.image,
            [*as_user, *command.argv],
            limits,
            writes=folders,
            stdin_open=True,
            working_dir=str(command.cwd),
            user="0:0",
            cap_drop=["ALL"],
            cap_add=[*CAPABILITIES, "SETPCAP"],
            security_opt=["no-new-privileges"],
            environment=dict(command.env),
            mounts=mounts,
        )


@cache
def _try(image: str, program: str) -> None:
    """Run a program in an image; InputError if it does not run."""
    try:
        found = find_engine().image(image)
    except EngineError as error:
        raise InputError(str(error)) from None
    if found is None:
        way_out = f"docker build --tag {image} {Path(__file__).parent}"
        raise InputError(f"the Docker engine has no image {image}; make it: {way_out}")
    sandbox = DockerSandbox(image)
    with scratch.folder("probe_") as folder:
        env = {**sandbox.tool_variables(), "HOME": str(folder)}
        try:
            finished = sandbox.run(Command([program, "--version"], folder, env, Limits(wall=60.0)))
        except SandboxError as error:
            raise InputError(f"no container of {image} can be started ({error})") from None
    if finished.returncode != 0:
        lines = finished.stderr.decode(errors="replace").strip().splitlines() or ["no output"]
        raise InputError(f"{program} does not run in {image} ({lines[-1]}); name another image")


@cache
def find_engine() -> Engine:
    """Return the engine; InputError if none answers."""
    try:
        found = Engine()
    except EngineError as error:
        raise InputError(f"{error}; start one, or run without containers") from None
    if missing := ", ".join(found.not_enforced):
        text = f"the Docker engine has no {missing} (see `docker info`)"
        print(f"{text}: containers may use more than their task's `resources`", file=sys.stderr)
    return found


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
            text = f"{name} names {host}: in a container that is the container itself; give an address of this machine"
            raise InputError(f"{text} that containers reach")

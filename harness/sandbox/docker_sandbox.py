"""The Docker sandbox: builds the image, passes few of the user's variables in, and leaves no container behind."""

from __future__ import annotations

import hashlib
import ipaddress
import secrets
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import docker
from docker import DockerClient
from docker.errors import BuildError, ImageNotFound

from harness.errors import InputError
from harness.host import scratch
from harness.host.processes import Command, Finished, Limits
from harness.host.variables import passed_variables, tool_environment
from harness.sandbox import reaper
from harness.sandbox.container import ENGINE_ERRORS, LOST, Contained, one_line
from harness.sandbox.place import DEFAULT_BASE_IMAGE, NEWEST, Sandbox, SandboxError

DOCKERFILE = Path(__file__).with_name("Dockerfile")
LABEL = "harness.sandbox"
"""Label of every container; its value is drawn at random for each sandbox."""

OF_THIS_MACHINE = ("PATH", "HOME", "SHELL", "USER", "LOGNAME")
"""Variables that have no meaning in a container."""

SPARE_SECONDS = 120
"""Seconds after a command's time limit at which its container ends by itself, if nobody is left to end it."""


class DockerSandbox(Sandbox):
    """Runs each command in a new container, which is removed when the command or the harness ends."""

    def __init__(
        self,
        image: str | None = None,
        *,
        base_image: str = DEFAULT_BASE_IMAGE,
        claude_version: str = NEWEST,
        say: Callable[[str], None] = print,
    ) -> None:
        """Choose an image; the engine is not contacted yet.

        Args:
            image: an image with the claude CLI and what the checks need; None builds one from `Dockerfile`.
            base_image: the Debian or Ubuntu image that the built one starts from.
            claude_version: npm version or tag of the claude CLI in the built image; `latest` is resolved at build time.
            say: called with a message when the image is built.
        """
        self.base_image = base_image
        self.is_own = image is None
        self.claude_version = claude_version
        self.image = image or f"harness-sandbox:{_digest(base_image, claude_version)}"
        self._say = say
        self._lock = threading.Lock()
        self._ready: dict[str, None] = {}
        self._client: DockerClient | None = None
        self._label = secrets.token_hex(8)
        self._reaper: subprocess.Popen[bytes] | None = None

    @property
    def identity(self) -> str:
        """The name of the image."""
        return f"docker {self.image}"

    def prepare(self, program: str) -> None:
        """Connect, build the image if it is missing, and check that the program runs in it.

        InputError if there is no engine, no image or no such program in it, or the engine does not see our files.
        """
        with self._lock:
            if program in self._ready:
                return
            _refuse_loopback(self.agent_variables())
            client = self._connected()
            self._provide_image(client)
            self._try(program)
            self._ready[program] = None

    def agent_variables(self) -> dict[str, str]:
        """Return the variables for language, network access and credentials; files that they name are mounted."""
        return {**_without_machine(passed_variables()), "IS_SANDBOX": "1"}

    def tool_variables(self) -> dict[str, str]:
        """Return the variables for language and network access."""
        return _without_machine(tool_environment())

    def run(self, command: Command) -> Finished:
        """Run a command in its own container; SandboxError if it cannot be started or is lost."""
        named = [Path(value) for value in command.env.values() if value.startswith("/") and Path(value).is_file()]
        client, labels = self._connected(), {LABEL: self._label}

        # `timeout` is the first process: it ends the container even if the harness, its reaper and the engine are gone.
        bound = ["timeout", "-k", "5", str(int(command.limits.wall) + SPARE_SECONDS)]
        bounded = replace(command, argv=[*bound, *command.argv], reads=[*command.reads, *named])
        finished = bounded.run(lambda started: Contained(started, client, self.image, labels))
        if finished.returncode == LOST:
            raise SandboxError("the container was lost before its command ended")
        return finished

    def _connected(self) -> DockerClient:
        if self._client is None:
            try:
                client = docker.from_env(timeout=120, max_pool_size=256)
                client.ping()
            except ENGINE_ERRORS as error:
                text = f"no Docker engine answers ({one_line(error)}); start one, or leave out --sandbox docker"
                raise InputError(text) from None
            command = [sys.executable, "-P", reaper.__file__, f"{LABEL}={self._label}"]
            devnull = subprocess.DEVNULL
            self._reaper = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=devnull, stderr=devnull, start_new_session=True, cwd="/"
            )
            self._client = client
        return self._client

    def _provide_image(self, client: DockerClient) -> None:
        try:
            client.images.get(self.image)
        except ImageNotFound:
            if not self.is_own:
                text = f"the Docker engine has no image {self.image}; build or pull it, or leave out --sandbox-image"
                raise InputError(text) from None
        except ENGINE_ERRORS as error:
            raise InputError(f"the Docker engine does not tell of {self.image} ({one_line(error)})") from None
        else:
            return
        self._say(f"building the sandbox's image {self.image} on {self.base_image}; this takes minutes, and once only")
        try:
            versions = {"BASE_IMAGE": self.base_image, "CLAUDE_VERSION": self.claude_version}
            with DOCKERFILE.open("rb") as file:
                client.images.build(fileobj=file, tag=self.image, buildargs=versions, rm=True, forcerm=True)
        except BuildError as error:
            said = "".join(str(part.get("stream") or part.get("error") or "") for part in error.build_log)
            last = said.strip().splitlines()[-8:]
            raise InputError("\n".join([f"{DOCKERFILE} cannot be built on {self.base_image}:", *last])) from None
        except ENGINE_ERRORS as error:
            raise InputError(f"{DOCKERFILE} cannot be built on {self.base_image} ({one_line(error)})") from None

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


def _digest(base_image: str, claude_version: str) -> str:
    chosen = base_image if claude_version == NEWEST else f"{base_image} {claude_version}"
    return hashlib.sha256(DOCKERFILE.read_bytes() + chosen.encode()).hexdigest()[:12]


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
        if host == "localhost" or _is_loopback(host):
            text = f"{name}={value}: in a container that is the container itself; give an address of this machine"
            raise InputError(f"{text} that containers reach")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False

"""The Docker engine of the user's context: images, and containers that have limits and leave nothing behind.

As a program, `engine.py LABEL` is the reaper of one process's containers (see `reap`).
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import docker
import requests
from docker.context import ContextAPI
from docker.errors import APIError, DockerException, ImageNotFound, NotFound
from docker.models.containers import Container as Made
from docker.models.images import Image
from docker.types import LogConfig, Ulimit
from docker.utils.socket import frames_iter
from urllib3.exceptions import HTTPError

LABEL = "locobench.process"
"""Label of every container; its value is drawn at random for each `Engine`."""
BUILT = "locobench-smoke-test"
"""Label of every image that is built here."""

ENGINE_SECONDS = 120
"""How long the engine may take to answer."""
GRACE_SECONDS = 10
"""Seconds after its time limit at which a container ends by itself, if nobody is left to end it."""
LOOK_SECONDS = 0.5
"""How often the free space of the disks is looked at."""
REAPING_SECONDS = 60

SOCKETS = ("/run/user/{uid}/docker.sock", "{home}/.docker/run/docker.sock", "{home}/.docker/desktop/docker.sock")
"""Where rootless Docker and Docker Desktop listen. A context normally says so; these help where none is set."""

_NO_BASE = re.compile(r"^ > \[internal\] load metadata for (\S+):$", re.MULTILINE)
"""BuildKit's name for the failed step if the Dockerfile's base image cannot be loaded."""


class EngineError(Exception):
    """The engine is missing, refuses or fails. The message is one line, `tail` the output of a failed build."""

    def __init__(self, message: str, tail: str = "") -> None:
        super().__init__(message)
        self.tail = tail


@dataclass(frozen=True)
class Limits:
    """The most that a container may use."""

    seconds: float
    memory_mb: int = 8192
    """Swap is not added to it."""
    storage_mb: int = 10240
    """Files in the container and in the folders of this machine that it may write to, together."""
    processes: int = 4096
    """Processes and threads."""


class Engine:
    """The Docker engine. Methods are thread-safe and raise EngineError."""

    def __init__(self) -> None:
        """Find the engine as the `docker` command does; EngineError says why none answers."""
        self._stopped = False
        self._builds: set[subprocess.Popen[bytes]] = set()
        self._label = f"{LABEL}={secrets.token_hex(8)}"
        with _explained("no Docker engine answers ({})"):
            self.client, self._environment = _connect()
            self.info: Mapping[str, Any] = self.client.info()
        self.not_enforced = [what for what in ("MemoryLimit", "PidsLimit") if self.info.get(what) is False]
        """Limits that this engine cannot set on containers, by their names in `docker info`."""
        reaper = [sys.executable, "-P", __file__, self._label]
        devnull = subprocess.DEVNULL
        # Its standard input is a pipe that only this process holds: the kernel closes it, however this process ends.
        self._reaper = subprocess.Popen(
            reaper,
            stdin=subprocess.PIPE,
            stdout=devnull,
            stderr=devnull,
            start_new_session=True,
            cwd="/",
            env=self._environment,
        )

    def image(self, name: str) -> Image | None:
        """Return an image that the engine has, or None."""
        with _explained(), contextlib.suppress(ImageNotFound):
            return self.client.images.get(name)
        return None

    def build(self, context: Path, tag: str, *, timeout: float) -> tuple[float, int]:
        """Build the Dockerfile in the folder `context`; return the seconds taken and the image's size in bytes.

        EngineError if the build fails or takes longer than `timeout` seconds.
        """
        # By the command: the SDK knows only the old builder. Harbor builds with BuildKit and reuses its layers.
        # A process group of its own, because the command leaves the work to a plugin that must be stopped with it.
        started = time.monotonic()
        try:
            process = subprocess.Popen(
                ["docker", "build", f"--label={BUILT}", f"--tag={tag}", context],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                process_group=0,
            )
        except FileNotFoundError:
            raise EngineError("build: the docker command is not on PATH; install it") from None
        with process:
            self._builds.add(process)
            try:
                said = process.communicate(timeout=timeout)[0].decode("utf-8", "replace")
            except subprocess.TimeoutExpired as error:
                tail = (error.output or b"").decode("utf-8", "replace")
                raise EngineError(f"build still ran after {timeout:g} s and was killed", tail) from None
            finally:
                self._builds.discard(process)
                _kill_group(process)
        if base := _NO_BASE.search(said) if process.returncode else None:
            way_out = f"try `docker pull {base[1]}`, or generate the tasks with another --base_image"
            raise EngineError(f"the image {base[1]} cannot be pulled: {way_out}", said)
        if process.returncode:
            raise EngineError(f"build failed (exit code {process.returncode})", said)
        seconds = time.monotonic() - started
        with _explained():
            return seconds, int(self.client.images.get(tag).attrs["Size"])

    @contextlib.contextmanager
    def container(
        self, image: str, argv: Sequence[str], limits: Limits, *, writes: Sequence[Path] = (), **options: Any
    ) -> Iterator[Container]:
        """Create a container that runs a command, and remove it after the block.

        Args:
            image: one that the engine has; nothing is pulled.
            writes: folders of this machine, mounted by `options`, that count against its storage.
            options: as in docker.models.containers.ContainerCollection.create.
        """
        if self._stopped:
            raise EngineError("stopped")
        # `timeout` is the first process: it ends the container even if this process and its reaper are gone.
        ends = ["timeout", "-k", "5", str(int(limits.seconds) + GRACE_SECONDS)]
        with _explained():
            made = self.client.containers.create(
                image,
                entrypoint=[*ends, *argv],
                labels=dict([self._label.split("=")]),
                mem_limit=f"{limits.memory_mb}m",
                memswap_limit=f"{limits.memory_mb}m" if self.info.get("SwapLimit") else None,
                pids_limit=limits.processes,
                # Most storage drivers cannot limit a container. This limits each file; Container._watch all of them.
                ulimits=[Ulimit(name="fsize", soft=limits.storage_mb << 20, hard=limits.storage_mb << 20)],
                log_config=LogConfig(type="none"),  # else endless output would fill the disk with the engine's log
                **options,
            )
        container = Container(self, made, limits, writes)
        try:
            yield container
        finally:
            container.remove()

    def stop(self) -> None:
        """End all builds and containers; the threads that wait for them get EngineError."""
        self._stopped = True
        for process in list(self._builds):
            _kill_group(process)
        _remove_all(self.client, self._label)


class Container:
    """A container that is created but not started. Methods raise EngineError."""

    def __init__(self, engine: Engine, made: Made, limits: Limits, writes: Sequence[Path]) -> None:
        self._client, self._made, self._limits = engine.client, made, limits
        self._storage = limits.storage_mb << 20
        self._writes = writes
        # In a virtual machine, as of Docker Desktop, the engine's disk cannot be looked at from here.
        root = Path(engine.info.get("DockerRootDir") or "/nowhere")
        self._disks = [*writes, root]
        self._disk_is_here = root.exists()
        self._ended = threading.Event()
        self.over_storage = False
        """Whether it was killed because it used more than its storage."""

    def put(self, files: Mapping[str, bytes | Path | None]) -> None:
        """Write files, copies of folders and (None) empty folders for everybody, by their absolute paths."""
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w", dereference=True) as archive:
            for place, content in files.items():
                entry = tarfile.TarInfo(place.lstrip("/"))
                if isinstance(content, Path):
                    archive.add(content, entry.name, filter=_of_root)
                elif content is None:
                    entry.type, entry.mode = tarfile.DIRTYPE, 0o777
                    archive.addfile(entry)
                else:
                    entry.size = len(content)
                    archive.addfile(entry, io.BytesIO(content))
        with _explained():
            self._made.put_archive("/", packed.getvalue())

    def take(self, path: str, most: int) -> dict[str, bytes]:
        """Return the regular files at a path or in a folder by their names, `most` bytes of them altogether."""
        found: dict[str, bytes] = {}
        with _explained(), contextlib.suppress(NotFound, tarfile.TarError):
            stream, _ = self._made.get_archive(path)
            reader: Any = SimpleNamespace(read=lambda _: next(stream, b""))
            with tarfile.open(fileobj=reader, mode="r|") as archive:
                for member in archive:
                    if (file := archive.extractfile(member)) is not None and member.isreg():
                        found[Path(member.name).name] = file.read(most)
                        most -= len(found[Path(member.name).name])
                    if most <= 0:
                        break
        return found

    def attach(self) -> tuple[socket.socket, Generator[tuple[int, bytes]]]:
        """Return a socket to write standard input to, and the output: 1 and a part of stdout, or 2 and one of stderr.

        To be called before `start`, so that no output is lost.
        """
        streams = {"stream": 1, "stdin": 1, "stdout": 1, "stderr": 1}
        with _explained():
            stream: Any = self._client.api.attach_socket(str(self._made.id), params=streams)
        own: socket.socket = getattr(stream, "_sock", stream)  # the file around it can neither wait nor half close
        own.settimeout(None)

        def output() -> Generator[tuple[int, bytes]]:
            with contextlib.closing(own), contextlib.closing(stream), contextlib.suppress(OSError):
                yield from frames_iter(stream, tty=False)  # type: ignore[no-untyped-call]

        return own, output()

    def start(self) -> None:
        """Start it; the engine says when its command runs."""
        floor = self._free() - self._storage
        with _explained():
            self._made.start()
        threading.Thread(target=self._watch, args=(floor,), daemon=True).start()

    def wait(self, seconds: float) -> int | None:
        """Return the exit code, or None if it still runs after some seconds."""
        until = time.monotonic() + seconds
        try:
            with _explained():
                return int(self._made.wait(timeout=seconds)["StatusCode"])
        except EngineError:
            if time.monotonic() < until:
                raise
            return None

    def signal(self, name: str) -> None:
        """Send a signal to its first process, which passes it on to the command."""
        with _explained():
            self._made.kill(name)

    def remove(self) -> None:
        """Remove it with all of its processes. If the engine does not answer any more, the reaper goes on trying."""
        self._ended.set()
        with contextlib.suppress(EngineError), _explained():
            self._made.remove(force=True, v=True)

    def _watch(self, floor: int) -> None:
        """Kill it when it uses more than its storage.

        Adding up its files costs time, so it is done only once the disks have less free space than `floor`: they
        lost as much as it may still use. Of a disk that is elsewhere nothing is known, so it is done all the time.
        """
        while not self._ended.wait(LOOK_SECONDS if self._disk_is_here else 10 * LOOK_SECONDS):
            free = self._free()
            floor = max(floor, free - self._storage)
            if free > floor and self._disk_is_here:
                continue
            with contextlib.suppress(EngineError):
                left = self._storage - self._used()
                if left < 0:
                    self.over_storage = True
                    self.signal("SIGKILL")
                floor = free - max(left, self._storage // 10)

    def _free(self) -> int:
        """Return the free bytes of the disks that it can write to."""
        free = {}
        for path in self._disks:
            with contextlib.suppress(OSError):
                disk = os.statvfs(path)
                free[path.stat().st_dev] = disk.f_bavail * disk.f_frsize
        return sum(free.values())

    def _used(self) -> int:
        """Return the bytes of its own files and of those in the folders it may write to."""
        with _explained():
            (shown,) = self._client.api.containers(all=True, size=True, filters={"id": self._made.id}) or [{}]
        return int(shown.get("SizeRw") or 0) + (_size_of(self._writes) if self._writes else 0)


def _size_of(folders: Sequence[Path]) -> int:
    """Return the bytes that folders take on the disk; more than any limit if they hide files from us."""
    shown = subprocess.run(["du", "-sk", *folders], env={**os.environ, "LC_ALL": "C"}, capture_output=True, text=True)
    if "Permission denied" in shown.stderr:
        return sys.maxsize
    return sum(int(line.split()[0]) << 10 for line in shown.stdout.splitlines())


def _of_root(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


def _connect() -> tuple[docker.DockerClient, dict[str, str]]:
    """Return the client of DOCKER_HOST, of the context, or of a socket; and variables for the `docker` command."""
    environment = dict(os.environ)
    if not environment.get("DOCKER_HOST"):
        try:
            context = ContextAPI.get_context(environment.get("DOCKER_CONTEXT"))
        except Exception as error:  # the SDK raises nothing more special for a broken file
            raise DockerException(error) from None
        if context is None:
            raise DockerException("no such context; see `docker context ls`")
        home, uid = str(Path.home()), os.getuid()
        usual = Path("/var/run/docker.sock")
        found = [path for path in SOCKETS if Path(path.format(home=home, uid=uid)).is_socket()]
        if context.Name == "default" and not usual.is_socket() and found:
            environment["DOCKER_HOST"] = "unix://" + found[0].format(home=home, uid=uid)
    return docker.from_env(timeout=ENGINE_SECONDS, environment=environment), environment


@contextlib.contextmanager
def _explained(said: str = "the Docker engine stopped answering ({})") -> Iterator[None]:
    """Make whatever the SDK raises an EngineError; `said` is about an engine that does not answer."""
    try:
        yield
    except APIError as error:
        reason = " ".join(str(error.explanation or error).split())
        full = "; the engine's disk is full: free some with `docker system prune`" if "no space left" in reason else ""
        raise EngineError(f"engine: {reason}{full}") from None
    except (DockerException, requests.RequestException, HTTPError, OSError) as error:
        raise EngineError(said.format(_reason(error))) from None


def _reason(error: BaseException) -> str:
    """Return what the socket said: the SDK wraps it in several errors."""
    while inner := [e for e in (error.__cause__, *error.args) if isinstance(e, BaseException)]:
        error = inner[0]
    match error:
        case PermissionError():
            return "permission denied on its socket; join the group `docker`, or use rootless Docker"
        case FileNotFoundError() | ConnectionRefusedError():
            return "nothing listens on its socket"
        case TimeoutError():
            return f"nothing for {ENGINE_SECONDS} s"
    return " ".join(str(error).split()) or type(error).__name__


def _remove_all(client: docker.DockerClient, label: str) -> int:
    """Remove all containers with a label; return how many there were."""
    with contextlib.suppress(EngineError, NotFound), _explained():
        found = client.containers.list(all=True, filters={"label": label}, ignore_removed=True)
        for made in found:
            with contextlib.suppress(APIError):
                made.remove(force=True, v=True)
        return len(found)
    return 0


def reap(label: str) -> None:
    """Wait for the end of standard input, then remove all containers with this label.

    It looks until it has found none several times, since the engine may still be creating one.
    """
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sys.stdin.buffer.read()
    until, quiet = time.monotonic() + REAPING_SECONDS, 0
    while quiet < 4 and time.monotonic() < until:
        with contextlib.suppress(DockerException):
            quiet = 0 if _remove_all(docker.from_env(timeout=ENGINE_SECONDS), label) else quiet + 1
        time.sleep(0.2)


if __name__ == "__main__":
    reap(sys.argv[1])

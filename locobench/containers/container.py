"""One container: its limits, copies into and out of it, its streams, and its end."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from docker import APIClient
from docker.errors import APIError, DockerException, NotFound
from docker.models.containers import Container as Made

LOOK_SECONDS = 0.5
"""How often the free space of the disks is looked at."""


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
    storage_mb: int = 10240
    """Files in the container and in the folders of this machine that it may write to, together."""
    processes: int = 4096
    """Processes and threads."""


class Container:
    """A container that is created but not started. Methods raise EngineError."""

    def __init__(self, api: APIClient, made: Made, limits: Limits, writes: Sequence[Path], root: Path | None) -> None:
        """`writes`: folders of this machine that count against its storage. `root`: the engine's, if it is here."""
        self._api, self._made, self._storage = api, made, limits.storage_mb << 20
        self._writes, self._root = writes, root
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
                    archive.add(content, entry.name, filter=lambda e: e.replace(uid=0, gid=0, uname="", gname=""))
                    continue
                if content is None:
                    entry.type, entry.mode = tarfile.DIRTYPE, 0o777
                entry.size = len(content or b"")
                archive.addfile(entry, io.BytesIO(content or b""))
        with engine_errors():
            self._made.put_archive("/", packed.getvalue())

    def take(self, path: str, most: int) -> dict[str, bytes]:
        """Return the regular files at a path or in a folder by their names, `most` bytes of them altogether."""
        found: dict[str, bytes] = {}
        with engine_errors(), contextlib.suppress(NotFound, tarfile.TarError):
            stream, _ = self._made.get_archive(path)
            reader: Any = SimpleNamespace(read=lambda _: next(stream, b""))
            with tarfile.open(fileobj=reader, mode="r|") as archive:
                for member in archive:
                    if most > 0 and member.isreg() and (file := archive.extractfile(member)):
                        content = found[Path(member.name).name] = file.read(most)
                        most -= len(content)
        return found

    @property
    def start_attached(self) -> list[str]:
        """The command that starts it with its own standard streams, and passes signals on; call `watch` before."""
        return ["docker", "start", "--attach", "--interactive", str(self._made.id)]

    def start(self) -> None:
        """Start it; returns when its command runs."""
        self.watch()
        with engine_errors():
            self._made.start()

    def watch(self) -> None:
        """Kill it, from now on, when it uses more than its storage."""
        threading.Thread(target=self._watch, args=(self._free() - self._storage,), daemon=True).start()

    def exit_code(self) -> int:
        """Return the exit code once it has ended; EngineError if it could not be started, or still runs."""
        with engine_errors():
            self._made.reload()
        state = self._made.attrs["State"]
        if state["Error"] or state["Status"] != "exited":
            raise EngineError(f"engine: {state['Error'] or 'the container is ' + state['Status']}")
        return int(state["ExitCode"])

    def wait(self, seconds: float) -> int | None:
        """Return the exit code, or None if it still runs after some seconds."""
        until = time.monotonic() + seconds
        try:
            with engine_errors():
                return int(self._made.wait(timeout=seconds)["StatusCode"])
        except EngineError:
            if time.monotonic() < until:
                raise
            return None

    def remove(self) -> None:
        """Remove it with all of its processes. If the engine does not answer any more, the reaper will."""
        self._ended.set()
        with contextlib.suppress(EngineError), engine_errors():
            self._made.remove(force=True, v=True)

    def _watch(self, floor: int) -> None:
        """Kill it when it uses more than its storage: most storage drivers cannot limit it.

        Adding up its files takes long, so it is done only once the disks have less free space than `floor`: they lost
        as much as it may still use. Disks of another machine, as with Docker Desktop, cannot be measured.
        """
        while not self._ended.wait(LOOK_SECONDS if self._root else 10 * LOOK_SECONDS):
            free = self._free()
            floor = max(floor, free - self._storage)
            if free > floor and self._root:
                continue
            with contextlib.suppress(EngineError):
                left = self._storage - self._used()
                floor = free - max(left, self._storage // 10)
                if left < 0:
                    self.over_storage = True
                    with engine_errors():
                        self._made.kill()

    def _free(self) -> int:
        """Return the free bytes of the disks that it can write to."""
        free = {}
        for path in [*self._writes, self._root or Path.home()]:
            with contextlib.suppress(OSError):
                disk = os.statvfs(path)
                free[path.stat().st_dev] = disk.f_bavail * disk.f_frsize
        return sum(free.values())

    def _used(self) -> int:
        """Return the bytes of its own files and of its folders here; more than any limit if those are hidden."""
        with engine_errors():
            (shown,) = self._api.containers(all=True, size=True, filters={"id": self._made.id}) or [{}]
        used = int(shown.get("SizeRw") or 0)
        if self._writes:
            du = ["du", "-sk", *map(str, self._writes)]
            told = subprocess.run(du, env={**os.environ, "LC_ALL": "C"}, capture_output=True, text=True)
            used += sys.maxsize if "Permission denied" in told.stderr else 0
            used += sum(int(line.split()[0]) << 10 for line in told.stdout.splitlines())
        return used


@contextlib.contextmanager
def engine_errors(said: str = "the Docker engine stopped answering ({})") -> Iterator[None]:
    """Turn the SDK's errors into EngineError; `said` is the message if the engine does not answer."""
    try:
        yield
    except APIError as error:
        reason = " ".join(str(error.explanation or error).split())
        full = "; free some of the engine's disk with `docker system prune`" if "no space left" in reason else ""
        raise EngineError(f"engine: {reason}{full}") from None
    except (DockerException, OSError) as error:  # requests' errors are OSErrors
        raise EngineError(said.format(_reason(error))) from None


def _reason(error: BaseException) -> str:
    """Return what the socket said: the SDK wraps it in several errors."""
    while inner := [e for e in (error.__cause__, *error.args) if isinstance(e, BaseException)]:
        error = inner[0]
    match error:
        case PermissionError():
            return "permission denied on its socket: join the group `docker`, or use rootless Docker"
        case FileNotFoundError() | ConnectionRefusedError():
            return "nothing listens on its socket"
        case TimeoutError():
            return "it takes too long"
    return " ".join(str(error).split()) or type(error).__name__

"""A Docker socket that can be taken away: passes everything on to the real one until a given request is seen."""

from __future__ import annotations

import contextlib
import socket
import threading
from pathlib import Path


class FragileSocket:
    """A unix socket at `path` in front of the engine's; it dies when a request holding `last_request` arrives."""

    def __init__(self, path: Path, engine: str, last_request: bytes) -> None:
        self._engine, self._last_request = engine, last_request
        self._dead = False
        self._connections: list[socket.socket] = []
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(str(path))
        self._server.listen(64)
        threading.Thread(target=self._serve, daemon=True).start()

    def die(self) -> None:
        """Refuse new connections and cut the ones there are."""
        self._dead = True
        for connection in [self._server, *self._connections]:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while not self._dead:
                client, _ = self._server.accept()
                upstream = socket.socket(socket.AF_UNIX)
                upstream.connect(self._engine)
                self._connections += [client, upstream]
                threading.Thread(target=self._pass_on, args=(client, upstream, True), daemon=True).start()
                threading.Thread(target=self._pass_on, args=(upstream, client, False), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket, watched: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if watched and self._last_request in data:
                    self.die()
                    return
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

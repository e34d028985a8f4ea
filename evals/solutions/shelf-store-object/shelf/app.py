"""Routing: limits first, then rights, then the handler."""

import time
from collections.abc import Callable

from shelf import auth, handlers
from shelf.http import Request, Response
from shelf.limits import Limiter
from shelf.store import Store

ROUTES: dict[tuple[str, str], Callable[[Store, Request], Response]] = {
    ("GET", "/books"): handlers.list_books,
    ("POST", "/books"): handlers.add_book,
    ("POST", "/loans"): handlers.lend,
    ("DELETE", "/loans"): handlers.give_back,
}


class App:
    """The service over one store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._limiter = Limiter(limit=100, window=60.0)

    def handle(self, request: Request) -> Response:
        """Answer a request."""
        if not self._limiter.allow(request.client, time.monotonic()):
            return Response(429, {"error": "too many requests"})
        if not auth.allowed(request):
            return Response(403, {"error": "not allowed"})
        handler = ROUTES.get((request.method, request.path))
        if handler is None:
            return Response(404, {"error": "no such page"})
        return handler(self._store, request)

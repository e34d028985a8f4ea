"""The HTTP face: a WSGI application over the service and the keyring."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import parse_qs
from wsgiref.simple_server import make_server

from tollkeeper.keys import Identity, InvalidKey, Keyring
from tollkeeper.plans import DEFAULT_PLANS, load_plans
from tollkeeper.service import QuotaService
from tollkeeper.store import Store, period_of

MAX_BODY = 64 * 1024
ROUTE_UNITS = {
    ("POST", "/v1/reports"): 25,
    ("GET", "/v1/exports"): 10,
    ("GET", "/v1/search"): 5,
}
REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found"}
REASONS[429] = "Too Many Requests"

Environ = dict[str, Any]
Headers = list[tuple[str, str]]
Answer = tuple[int, dict[str, Any], Headers]


class HttpError(Exception):
    """An answer other than success."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Application:
    """WSGI callable."""

    def __init__(self, service: QuotaService, keyring: Keyring, admin_token: str) -> None:
        self.service = service
        self.keyring = keyring
        self.admin_token = admin_token
        self.routes: dict[tuple[str, str], Callable[[Environ], Answer]] = {
            ("POST", "/check"): self.check,
            ("GET", "/usage"): self.usage,
            ("POST", "/admin/reset"): self.reset,
            ("POST", "/admin/revoke"): self.revoke,
            ("GET", "/healthz"): lambda environ: (200, {"status": "up"}, []),
        }

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        headers: Headers = []
        try:
            handler = self.routes.get((environ["REQUEST_METHOD"], environ.get("PATH_INFO", "/")))
            if handler is None:
                raise HttpError(404, "no such route")
            status, document, headers = handler(environ)
        except HttpError as error:
            status, document = error.status, {"error": str(error)}
        body = json.dumps(document).encode()
        headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body))), *headers]
        start_response(f"{status} {REASONS[status]}", headers)
        return [body]

    def check(self, environ: Environ) -> Answer:
        """POST /check"""
        identity = self._identity(environ)
        call = self._body(environ)
        method, path = str(call.get("method", "GET")).upper(), str(call.get("path", "/"))
        decision = self.service.check(identity.tenant, identity.plan, method, path)
        headers: Headers = [
            ("X-Quota-Limit", str(decision.limit)),
            ("X-Quota-Remaining", str(decision.remaining)),
            ("X-Quota-Cost", str(_advertised_cost(method, path))),
        ]
        if not decision.allowed:
            headers.append(("Retry-After", str(decision.retry_after)))
        return (200 if decision.allowed else 429), {"reason": decision.reason}, headers

    def usage(self, environ: Environ) -> Answer:
        """GET /usage"""
        identity = self._identity(environ)
        return 200, dict(self.service.usage_report(identity.tenant, identity.plan)), []

    def reset(self, environ: Environ) -> Answer:
        """POST /admin/reset"""
        self._require_admin(environ)
        tenant = parse_qs(environ.get("QUERY_STRING", "")).get("tenant", [""])[0]
        if not tenant:
            raise HttpError(400, "tenant is missing")
        store = self.service.store
        freed = store._usage.pop((tenant, period_of(self.service.clock())), 0)
        store._buckets.pop(tenant, None)
        return 200, {"tenant": tenant, "freed_units": freed}, []

    def revoke(self, environ: Environ) -> Answer:
        """POST /admin/revoke"""
        self._require_admin(environ)
        try:
            self.keyring.revoke(str(self._body(environ).get("key", "")))
        except InvalidKey as error:
            raise HttpError(400, str(error)) from error
        return 200, {"revoked": True}, []

    def _identity(self, environ: Environ) -> Identity:
        authorization = environ.get("HTTP_AUTHORIZATION", "")
        if not authorization:
            return Identity(f"ip-{environ.get('REMOTE_ADDR', 'unknown')}", "anonymous")
        scheme, _, key = authorization.partition(" ")
        if scheme.lower() != "bearer":
            raise HttpError(401, "use a bearer key")
        try:
            return self.keyring.verify(key.strip())
        except InvalidKey as error:
            raise HttpError(401, str(error)) from error

    def _require_admin(self, environ: Environ) -> None:
        if environ.get("HTTP_X_ADMIN_TOKEN", "") != self.admin_token:
            raise HttpError(403, "admin token required")

    @staticmethod
    def _body(environ: Environ) -> dict[str, Any]:
        try:
            length = int(environ.get("CONTENT_LENGTH") or 0)
            if not 0 <= length <= MAX_BODY:
                raise ValueError("too long")
            document = json.loads(environ["wsgi.input"].read(length) or b"{}")
        except ValueError as error:
            raise HttpError(400, f"bad body: {error}") from error
        if not isinstance(document, dict):
            raise HttpError(400, "the body must be an object")
        return document


def _advertised_cost(method: str, path: str) -> int:
    return ROUTE_UNITS.get((method, path.rstrip("/")), 1)


def create_app(settings: dict[str, str]) -> Application:
    """The application from TOLLKEEPER_* settings."""
    plans = load_plans(settings["TOLLKEEPER_PLANS"]) if "TOLLKEEPER_PLANS" in settings else DEFAULT_PLANS
    service = QuotaService(plans, Store(settings.get("TOLLKEEPER_SNAPSHOT")))
    return Application(service, Keyring(settings["TOLLKEEPER_SECRET"]), settings["TOLLKEEPER_ADMIN_TOKEN"])


def main() -> None:
    """Serve until interrupted."""
    app = create_app(dict(os.environ))
    with make_server("127.0.0.1", int(os.environ.get("TOLLKEEPER_PORT", "8085")), app) as server:
        try:
            server.serve_forever()
        finally:
            app.service.store.save()


if __name__ == "__main__":
    main()
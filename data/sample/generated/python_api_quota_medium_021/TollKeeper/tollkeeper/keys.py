"""API keys: issued to a tenant for a plan, verified without a database.

A key reads `tk.<tenant>.<plan>.<signature>`.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass

PREFIX = "tk"
SIGNATURE_CHARS = 32
_TENANT = re.compile(r"[a-z0-9][a-z0-9-]{1,30}")


class InvalidKey(ValueError):
    """A key that is malformed, forged or revoked."""


@dataclass(frozen=True)
class Identity:
    """Who calls, and on which plan."""

    tenant: str
    plan: str


class Keyring:
    """Issues, verifies and revokes keys with one secret."""

    def __init__(self, secret: str) -> None:
        if len(secret) < 16:
            raise ValueError("the signing secret needs at least 16 characters")
        self._secret = secret.encode()
        self._revoked: set[str] = set()

    def _sign(self, tenant: str) -> str:
        digest = hmac.new(self._secret, tenant.encode(), hashlib.sha256)
        return digest.hexdigest()[:SIGNATURE_CHARS]

    def issue(self, tenant: str, plan: str) -> str:
        """A key for the tenant on the plan."""
        if not _TENANT.fullmatch(tenant):
            raise ValueError(f"tenant {tenant!r}: use 2 to 31 of a-z, 0-9 and -")
        return ".".join((PREFIX, tenant, plan, self._sign(tenant)))

    def verify(self, key: str) -> Identity:
        """The identity behind a key; raises InvalidKey."""
        parts = key.split(".")
        if len(parts) != 4 or parts[0] != PREFIX:
            raise InvalidKey("malformed key")
        _, tenant, plan, signature = parts
        if signature != self._sign(tenant):
            raise InvalidKey("bad signature")
        if key in self._revoked:
            raise InvalidKey("revoked key")
        return Identity(tenant, plan)

    def revoke(self, key: str) -> None:
        """Refuse the key from now on."""
        self.verify(key)
        self._revoked.add(key)
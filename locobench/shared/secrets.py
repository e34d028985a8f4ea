"""Decide which names belong to secrets: environment variables, settings, headers and arguments."""

from __future__ import annotations

import re
from functools import lru_cache

SECRET_WORDS = frozenset(
    (
        "secret",
        "secrets",
        "password",
        "passwords",
        "passwd",
        "passwort",
        "passphrase",
        "pwd",
        "pin",
        "token",
        "credential",
        "credentials",
        "authorization",
        "auth",
        "bearer",
        "cookie",
        "cookies",
        "pat",
        "dsn",
        "webhook",
        "apikey",
        "apikeys",
        "privatekey",
        "signature",
        "jwt",
        "otp",
    )
)
SECRET_ENDINGS = ("token", "connection_string", "_conn_str")
SECRET_PARTS = (
    *("api_key", "access_key", "private_key", "secret", "password", "passwd", "credential"),
    *("api_tokens", "auth_tokens", "access_tokens", "custom_headers"),
)
"""A name is secret if a word of it is, if `key` follows its first word, or if it has one of these endings or parts."""

MEASURES = frozenset(
    (
        "limit",
        "count",
        "budget",
        "usage",
        "ttl",
        "timeout",
        "ms",
        "seconds",
        "enabled",
        "disabled",
        "type",
        "sock",
        "source",
        "rate",
        "length",
        "size",
        "index",
    )
)
"""Last words of names that mention a secret without holding one: token_limit, auth_type, SSH_AUTH_SOCK."""


WORKING_DIRECTORIES = ("PWD", "OLDPWD")
"""Variables that hold a shell's current and previous folder; elsewhere `pwd` is short for a password."""


LOOKUP_KEYS = frozenset(
    ("cache", "primary", "foreign", "sort", "group", "partition", "index", "lookup", "dict", "map", "row", "object")
)
"""Words that make a key a lookup key: cache_key, primary_key."""


@lru_cache(maxsize=4096)
def is_secret_name(name: str) -> bool:
    """Return whether values under this name are secret. Case and separators do not matter.

    `ANTHROPIC_API_KEY`, `apiKey` and `X-Auth-Token` are; `max_tokens`, `keybindings` and `token_limit` are not.
    """
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+", "_", name).strip("_").lower()
    words = snake.split("_")
    if words[-1] in MEASURES or name in WORKING_DIRECTORIES or _looks_up(words):
        return False
    return (
        not SECRET_WORDS.isdisjoint(words)
        or words[-1] == "pass"  # but not a band's pass_rate
        or not {"key", "keys"}.isdisjoint(words[1:])
        or snake.endswith(SECRET_ENDINGS)
        or any(part in snake for part in SECRET_PARTS)
    )


def _looks_up(words: list[str]) -> bool:
    return len(words) > 1 and words[-1] in ("key", "keys") and words[-2] in LOOKUP_KEYS


STRONG_PARTS = ("password", "passwd", "passphrase", "pwd", "secret", "api_key", "apikey", "access_key", "private_key")


def is_strong_name(name: str) -> bool:
    """Return whether a secret name is a password or key, whose value is secret even if it is a plain word."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+", "_", name).lower()
    return any(part in snake for part in STRONG_PARTS) or "pass" in snake.split("_")

"""Which names are those of secrets: of environment variables, settings, headers and arguments."""

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
"""A name is secret when one of its words is, when it has `key` after its first word, or ends or goes on like this."""

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
"""Last words of names that tell of a secret without being one: token_limit, auth_type, SSH_AUTH_SOCK."""


WORKING_DIRECTORIES = ("PWD", "OLDPWD")
"""Variables in which a shell keeps the paths it is and was in; `pwd` elsewhere is short for a password."""


LOOKUP_KEYS = frozenset(
    ("cache", "primary", "foreign", "sort", "group", "partition", "index", "lookup", "dict", "map", "row", "object")
)
"""What makes a key one to look up by: cache_key, primary_key."""


@lru_cache(maxsize=4096)
def is_secret_name(name: str) -> bool:
    """Whether values under this name are secret, in whatever case and with whatever between its words.

    `ANTHROPIC_API_KEY`, `apiKey` and `X-Auth-Token` are; `max_tokens`, `keybindings` and `token_limit` are not.
    """
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+", "_", name).strip("_").lower()
    words = snake.split("_")
    if words[-1] in MEASURES or name in WORKING_DIRECTORIES or _looks_up(words):
        return False
    return (
        not SECRET_WORDS.isdisjoint(words)
        or words[-1] == "pass"  # a band's pass_rate is none
        or not {"key", "keys"}.isdisjoint(words[1:])
        or snake.endswith(SECRET_ENDINGS)
        or any(part in snake for part in SECRET_PARTS)
    )


def _looks_up(words: list[str]) -> bool:
    return len(words) > 1 and words[-1] in ("key", "keys") and words[-2] in LOOKUP_KEYS


STRONG_PARTS = ("password", "passwd", "passphrase", "pwd", "secret", "api_key", "apikey", "access_key", "private_key")


def is_strong_name(name: str) -> bool:
    """Whether a secret name is one of passwords and keys, whose values are secret even when they are plain words."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+", "_", name).lower()
    return any(part in snake for part in STRONG_PARTS) or "pass" in snake.split("_")

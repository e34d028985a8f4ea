"""Decide which names belong to secrets: environment variables, settings, headers and arguments."""

from __future__ import annotations

import re
from functools import lru_cache

_WORDS = """
passwort passphrase pwd pin token authorization auth bearer cookie cookies pat dsn webhook apikey apikeys privatekey
signature jwt otp
"""
SECRET_WORDS = frozenset(_WORDS.split())
SECRET_PART = re.compile(
    r"secret|password|passwd|credential|(?:api|access|private)_key|(?:api|access)_tokens|custom_headers"
    # A key of something: keybindings and key_length are none.
    r"|_keys?(?:_|$)|(?:token|connection_string|_conn_str|(?:^|_)pass)$"
)
"""A name is secret if a word of it is one of SECRET_WORDS, or if this matches somewhere in it."""

_MEASURES = """
limit count budget usage ttl timeout ms seconds enabled disabled type sock source rate length size index
"""
MEASURES = frozenset(_MEASURES.split())
"""Last words of names that mention a secret without holding one: token_limit, auth_type, SSH_AUTH_SOCK."""

WORKING_DIRECTORIES = ("PWD", "OLDPWD")
"""Variables that hold a shell's current and previous folder; elsewhere `pwd` is short for a password."""

LOOKUP_KEY = re.compile(
    r"(?:^|_)(?:cache|primary|foreign|sort|group|partition|index|lookup|dict|map|row|object)_keys?$"
)
"""Keys to look something up by: cache_key, primary_key."""


@lru_cache(maxsize=4096)
def is_secret_name(name: str) -> bool:
    """Return whether values under this name are secret. Case and separators do not matter.

    `ANTHROPIC_API_KEY`, `apiKey` and `X-Auth-Token` are; `max_tokens`, `keybindings` and `token_limit` are not.
    """
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+", "_", name).lower().strip("_")
    words = snake.split("_")
    if words[-1] in MEASURES or name in WORKING_DIRECTORIES or LOOKUP_KEY.search(snake):
        return False
    return not SECRET_WORDS.isdisjoint(words) or bool(SECRET_PART.search(snake))

"""Removes secrets from text, JSON and results. It finds them by value, by shape, and under their names in JSON.

An agent prints its environment by accident; one that wants to hide a secret can encode it in ways that nothing finds.
So values are looked for as programs usually print them, and what is assigned to a secret name in a text is not guessed:
in transcripts, and in the repositories that agents read, that found placeholders and damaged code.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, quote_plus, unquote

from measure.secrets.names import is_secret_name
from measure.secrets.shapes import replace_shapes

REDACTED = "[REDACTED]"

HARMLESS = re.compile(r"(?i)(true|false|null|none|nil|undefined|\$\{?[A-Z_][A-Z0-9_]*(:-)?\}?|<.*>|\*+|x+|\.+|)\Z")
"""Values that are never secret, whatever their name: switches, variable references and placeholders."""

HARMLESS_HEADERS = frozenset(("accept", "accept-encoding", "accept-language", "content-type", "user-agent", "host"))
"""The only HTTP headers whose values are kept."""

OPAQUE = re.compile(r"(?=[^a-z]*[a-z])(?=[^0-9]*[0-9])(?:[0-9a-f]{32,}|(?=[^A-Z]*[A-Z])[A-Za-z0-9+/_=-]{32,})\Z")
"""Matches a value that is long and looks random: hexadecimal, or mixed case with digits."""

OPAQUE_PART = re.compile(r"\d|.{20}")
"""Matches the parts of a value, such as of headers, that are not plain words."""
IN_ADDRESS = re.compile(r"(?:://|\A)[^\s/@:]*:([^\s/@]{4,})@")

ASSIGNED = re.compile(
    r"""(?P<before>(?P<name>[A-Za-z_][A-Za-z0-9_.-]{0,99})["']?[ ]?[=:][ ]?["']?)"""
    r"""(?P<value>(?=[^\s"'&,;]*\d)(?!/)[^\s"'&,;$(){}<>\[\]]{8,})(?![^\s"'&,;])"""
)
"""NAME=value, name: value and "name": "value"."""

ARGUMENT = re.compile(r"--?(?P<name>[A-Za-z][A-Za-z0-9_-]*)\Z")

SHORTEST_SECRET = 8
"""Characters; shorter values of variables may be words that occur anywhere."""

KEPT_KEYS = frozenset(
    ("id", "uuid", "session_id", "model", "type", "subtype", "tool_use_id", "parent_tool_use_id", "request_id",
     "canonicalModel", "apiKeySource", "permissionMode", "terminal_reason", "stop_reason", "claude_code_version")
)  # fmt: skip
"""Keys of the CLI's messages whose values are kept: ids, models and words of a fixed list."""


class Redactor:
    """Removes secrets from text and JSON: known values, known shapes, and values of secret names."""

    def __init__(self, *environments: Mapping[str, str], values: Iterable[str] = ()) -> None:
        """Redact the values of all variables in `environments` that have a secret name, and all of `values`.

        `values` are further secrets, whatever their names, for example from an MCP server's headers.
        """
        found = {v for variables in environments for v in _of_environment(variables)} | set(values)
        secrets = {v for v in found if len(v) >= SHORTEST_SECRET and not HARMLESS.match(v)}
        # longest first, since one secret may contain another
        self._secrets = sorted({form for secret in secrets for form in _forms(secret)}, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        """Return the text without secrets."""
        return redact_text(self._without_known(text))

    def _without_known(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, REDACTED)
        return text

    def json(self, value: Any, key: str = "") -> Any:
        """Return a transcript's JSON value without secrets; ids, models and numbers are kept."""
        if isinstance(value, dict):
            return {self._without_known(name): self.json(item, name) for name, item in value.items()}
        if isinstance(value, list):
            return [self.json(item, key) for item in value]
        if not isinstance(value, str) or key in KEPT_KEYS:
            return value
        if len(value) >= SHORTEST_SECRET and is_secret_name(key) and not HARMLESS.match(value):
            return REDACTED
        return self(value)


def _of_environment(variables: Mapping[str, str]) -> Iterator[str]:
    """Yield the values of variables with secret names, the parts of those values, and passwords in addresses."""
    for name, value in variables.items():
        for password in IN_ADDRESS.findall(value):
            yield from (password, unquote(password))
        if is_secret_name(name):
            yield value
            parts = (part for line in value.splitlines() for part in (line, *re.split(r"[:\s]\s*", line)))
            yield from (part for part in parts if OPAQUE_PART.search(part))


def _forms(secret: str) -> set[str]:
    """Return how a secret looks in text, addresses, JSON and HTML, and in base64 at any offset."""
    raw = secret.encode("utf-8", "surrogateescape")
    escaped = {json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], repr(secret)[1:-1]}
    escaped |= {json.dumps(text)[1:-1] for text in escaped}  # a tool's JSON inside the transcript's JSON
    found = {secret, *escaped, html.escape(secret), quote(raw, safe=""), quote(raw), quote_plus(raw)}
    for before in range(3):
        # a letter holds six bits: drop those that also hold bits of neighbouring bytes
        first, last = -(-8 * before // 6), 8 * (before + len(raw)) // 6
        text = base64.b64encode(bytes(before) + raw).decode()[first:last]
        found |= {text, text.replace("+", "-").replace("/", "_")}
    return {form for form in found if len(form) >= SHORTEST_SECRET}


def server_secrets(servers: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Return the secret values of MCP servers' `env` and `headers`, also without a header's scheme (Bearer)."""
    found: list[str] = []
    for server in (servers or {}).values():
        if not isinstance(server, Mapping):
            continue
        for part in ("env", "headers"):
            for name, value in (server.get(part) or {}).items():
                secret = is_secret_name(name) if part == "env" else name.lower() not in HARMLESS_HEADERS
                if secret and isinstance(value, str):
                    found += [value, value.rpartition(" ")[2]]
    return tuple(found)


def redact_text(text: str) -> str:
    """Redact what has the shape of a secret."""
    return replace_shapes(text, REDACTED)


def redact_settings(text: str) -> str:
    """Redact shapes, and values with a digit that are assigned to secret names: the text of a user's own settings."""

    def value(match: re.Match[str]) -> str:
        secret = is_secret_name(match["name"]) and not HARMLESS.match(match["value"])
        return match["before"] + REDACTED if secret else match[0]

    return ASSIGNED.sub(value, redact_text(text))


def redact(value: Any, where: str = "", *, omit: bool = False) -> tuple[Any, list[str]]:
    """Return a JSON value without secrets, and the dotted paths of what was redacted, now or earlier.

    A placeholder replaces each secret; with `omit`, object entries with secret names are dropped instead.
    """
    found: list[str] = []

    def clean(item: Any, here: str, named: bool) -> Any:
        if named and _holds_secret(item):
            found.append(here)
            return [REDACTED for _ in item] if isinstance(item, list) else REDACTED
        if isinstance(item, dict):
            headers = here.rpartition(".")[2].lower() == "headers"
            rows = {}
            for key, below in item.items():
                path = f"{here}.{key}" if here else key
                secret = key.lower() not in HARMLESS_HEADERS if headers else is_secret_name(key)
                if omit and secret and _holds_secret(below):
                    found.append(path)
                else:
                    rows[key] = clean(below, path, secret)
            return rows
        if isinstance(item, list):
            # After an argument such as `--api-key`, the next one is secret.
            names = [match and match["name"] for match in (ARGUMENT.match(str(before)) for before in ["", *item])]
            return [
                clean(below, f"{here}[{index}]", bool(name) and is_secret_name(name))
                for index, (name, below) in enumerate(zip(names, item, strict=False))
            ]
        if isinstance(item, str):
            item = REDACTED if OPAQUE.match(item) else redact_settings(item)
            if REDACTED in item:
                found.append(here)
        return item

    return clean(value, where, False), found


def _holds_secret(item: Any) -> bool:
    """Return whether the value of a secret name is a secret; an object's entries have names of their own."""
    if isinstance(item, list):
        return any(map(_holds_secret, item))
    return not (item is None or isinstance(item, (bool, dict)) or HARMLESS.match(str(item)))

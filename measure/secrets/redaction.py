"""Removes secrets from text, JSON and results. It finds them by name, by value and by shape."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, quote_plus

from measure.secrets.names import is_secret_name, is_strong_name
from measure.secrets.shapes import replace_shapes

REDACTED = "[REDACTED]"

HARMLESS = re.compile(r"(?i)(true|false|null|none|nil|undefined|\$\{?[A-Z_][A-Z0-9_]*(:-)?\}?|<.*>|\*+|x+|\.+|)\Z")
"""Values that are never secret, whatever their name: switches, variable references and placeholders."""

HARMLESS_HEADERS = frozenset(("accept", "accept-encoding", "accept-language", "content-type", "user-agent", "host"))
"""The only HTTP headers whose values are kept."""

OPAQUE = re.compile(r"(?=[^a-z]*[a-z])(?=[^0-9]*[0-9])(?:[0-9a-f]{32,}|(?=[^A-Z]*[A-Z])[A-Za-z0-9+/_=-]{32,})\Z")
"""Matches a value that is long and looks random: hexadecimal, or mixed case with digits."""

ASSIGNED = re.compile(
    r"""(?<![A-Za-z0-9_.])(?<![A-Za-z0-9]-)(?P<name>[A-Za-z_][A-Za-z0-9_.-]{0,99})\\?["'`]?(?:\[?\])?"""
    r"""(?P<between>[ \t]*(?:=>|:=|[=:](?![=:])|,(?=[ \t]*["'])|(?=["'][^"'\n]{8,99}["'];))[ \t]*)"""
)
"""NAME=value, name: value, "name": "value", env['NAME'] = 'value', set("NAME", "value") and name "value";."""

PASSED = re.compile(r"""(?:(?<!\S)--|\bsetx? (?:-[a-z]+ )*)(?P<name>[A-Za-z_][A-Za-z0-9_.-]{0,99})(?P<between>[ ]+)""")
"""--name value, and the shells' set NAME value."""

QUOTED = re.compile(r"""[@bfru]{0,2}(?P<quote>\\?["'`])(?P<value>(?:(?!(?P=quote))[^\n]){4,4000}?)(?P=quote)""")
UNQUOTED = re.compile(r"""[^\s"'`,;&<>()\[\]{}\\]{4,}(?=[\s&"'`;\\]|,(?=\S)|\Z)""")
CODE = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|->|::)[A-Za-z_$][\w$]*)*[;!?]?\Z")
"""A name, or dotted names. As an unquoted value this is code, unless it has digits and no dots."""

WORDS = frozenset(
    re.findall(
        r"\w+",
        """required optional undefined password passwords username string boolean integer number object unknown disabled
        enabled default example changeme redacted hidden invalid missing expired secret token basic bearer digest oauth
        oauth2 secretkeyref nullable readonly writeonly inherit deprecated prompted anonymous external""",
    )
)
"""Words that describe a value and are not one."""

REFERENCE = re.compile(r"\$\{\w[\w.:?/=+@ -]*\}|\{\{[^{}]*\}\}|\{\w*\}|\$\w+|%\(\w+\)s|%s|<[^<>]*>")
"""Placeholders inside a value, such as ${NAME} or %s."""
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\Z")
LONGEST_NUMBER = 8
"""Characters; a longer number is a key of a service whose keys are digits."""
CODES = frozenset(("password", "passwd", "passwort", "passphrase", "pwd", "pass", "pin", "otp", "secret"))
"""Last words of names whose value is secret even if it is just a number. Not `token`: its number is a vocabulary id."""
OPAQUE_PART = re.compile(r"\d|.{20}")
"""Matches the parts of a value, such as of headers, that are not plain words."""
IN_ADDRESS = re.compile(r"://[^\s/@:]*:([^\s/@]{4,})@")

ARGUMENT = re.compile(r"--?(?P<name>[A-Za-z][A-Za-z0-9_-]*)\Z")

SHORTEST_SECRET = 8
"""Characters; shorter values of variables may be words that occur anywhere."""

KEPT_KEYS = frozenset(
    ("id", "uuid", "session_id", "model", "type", "subtype", "tool_use_id", "parent_tool_use_id", "request_id",
     "canonicalModel", "apiKeySource", "permissionMode", "terminal_reason", "stop_reason", "claude_code_version")
)  # fmt: skip
"""Keys of the CLI's messages whose values are kept: ids, models and words of a fixed list."""

LONGEST_SECRET = 2000
"""Characters; a longer unquoted value under a secret name is redacted without a closer look."""


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
        if key and _is_secret_value(key, value, literal=True):
            return REDACTED
        return self(value)


def _of_environment(variables: Mapping[str, str]) -> Iterator[str]:
    """Yield the values of variables with secret names, the parts of those values, and passwords in URLs."""
    for name, value in variables.items():
        yield from IN_ADDRESS.findall(value)
        if is_secret_name(name):
            yield value
            parts = (part for line in value.splitlines() for part in (line, *re.split(r"[:\s]\s*", line)))
            yield from (part for part in parts if OPAQUE_PART.search(part))


def _forms(secret: str) -> set[str]:
    """Return how a secret looks in text, URLs, JSON, HTML and hexadecimal, and in base64 at any offset."""
    raw = secret.encode("utf-8", "surrogateescape")
    escaped = {json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], repr(secret)[1:-1]}
    escaped |= {json.dumps(text)[1:-1] for text in escaped}  # a tool's JSON inside the transcript's JSON
    found = {secret, *escaped, html.escape(secret), raw.hex(), raw.hex().upper()}
    found |= {quote(raw, safe=""), quote(raw), quote_plus(raw), quote(quote(raw, safe=""), safe="")}
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
    """Redact what looks like a secret or is assigned to a secret name; code stays readable."""
    text = replace_shapes(text, REDACTED)
    text = _redact_assigned(text, ASSIGNED)
    return _redact_assigned(text, PASSED) if "--" in text or "set" in text else text


def _redact_assigned(text: str, assignments: re.Pattern[str]) -> str:
    parts: list[str] = []
    done = 0
    for assigned in assignments.finditer(text):
        name = assigned["name"]
        if assigned.start() < done or not is_secret_name(name):
            continue
        span = _secret_value(text, assigned, name)
        if span:
            parts += [text[done : span[0]], REDACTED]
            done = span[1]
    return "".join([*parts, text[done:]]) if parts else text


def _secret_value(text: str, assigned: re.Match[str], name: str) -> tuple[int, int] | None:
    """Return the span of an assigned value if it is a secret, else None."""
    between = assigned["between"].strip()
    quoted = QUOTED.match(text, assigned.end())
    if quoted:
        value = quoted["value"]
        if between == "," and (len(value) < SHORTEST_SECRET or not any(c.isdigit() for c in value)):
            return None
        return quoted.span("value") if _is_secret_value(name, value, literal=True) else None
    unquoted = UNQUOTED.match(text, assigned.end())
    if unquoted is None or between == ",":
        return None
    value = unquoted[0]
    if len(value) > LONGEST_SECRET:
        return unquoted.span()
    shell = assigned["between"] == "=" and name == name.upper()
    # in YAML, a word that ends the line is a password; elsewhere it is prose or a variable's name
    alone = between == ":" and text[unquoted.end() : unquoted.end() + 1] in ("", "\n") and _is_no_code(name, value)
    literal = shell or alone or (not between and len(value) >= SHORTEST_SECRET)
    return unquoted.span() if _is_secret_value(name, value, literal=literal) else None


def _is_no_code(name: str, value: str) -> bool:
    """Return whether the value at the end of a YAML line is a secret rather than a variable's name."""
    if value.isalpha():
        return value.islower() and len(value) >= SHORTEST_SECRET
    digits = sum(c.isdigit() for c in value)
    if CODE.match(value):
        return "." not in value and digits >= (1 if is_strong_name(name) and "_" not in value else 3)
    return is_strong_name(name) or digits > 0


def _is_secret_value(name: str, value: str, *, literal: bool) -> bool:
    if not is_secret_name(name) or len(value) < 4 or HARMLESS.match(value) or REDACTED in value:
        return False
    lower = value.lower()
    if lower in WORDS or value.startswith(("/", "./", "~/")):
        return False
    bare = REFERENCE.sub("", value)
    if bare != value and sum(c.isalnum() for c in bare) < SHORTEST_SECRET:
        return False
    if NUMBER.match(value) and len(value) <= LONGEST_NUMBER:
        return re.split(r"[^a-z]+", name.lower())[-1] in CODES
    digit = any(c.isdigit() for c in value)
    if " " in value:
        return "passphrase" in name.lower() or (literal and is_strong_name(name) and " " not in value.strip())
    if not literal:
        if CODE.match(value):
            return digit and len(value) >= 8 and not re.search(r"\.|->|::|_", value)
        return digit or any(c in "!@#$%^&*+" for c in value)
    if is_strong_name(name):
        return lower != name.lower()
    wordy = CODE.match(value) or re.fullmatch(r"[a-z]+(?:-[a-z]+)+", value)
    return (digit and len(value) >= 6) or (len(value) >= 20 and not wordy)


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
            item = REDACTED if OPAQUE.match(item) else redact_text(item)
            if REDACTED in item:
                found.append(here)
        return item

    return clean(value, where, False), found


def _holds_secret(item: Any) -> bool:
    """Return whether the value of a secret name is a secret; an object's entries have names of their own."""
    if isinstance(item, list):
        return any(map(_holds_secret, item))
    return not (item is None or isinstance(item, (bool, dict)) or HARMLESS.match(str(item)))

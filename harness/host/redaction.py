"""How secrets are taken out of text and JSON: by the name they are stored under, by their value, by how they look."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from common.secrets import is_secret_name

REDACTED = "[REDACTED]"

HARMLESS = re.compile(r"(?i)(true|false|null|none|\$\{?[A-Z_][A-Z0-9_]*(:-)?\}?|)\Z")
"""Values that are no secret whatever their name: switches and references to variables."""

HARMLESS_HEADERS = frozenset(("accept", "accept-encoding", "accept-language", "content-type", "user-agent", "host"))
"""The only HTTP headers whose values are kept."""

OPAQUE = re.compile(r"(?=[^a-z]*[a-z])(?=[^0-9]*[0-9])(?:[0-9a-f]{32,}|(?=[^A-Z]*[A-Z])[A-Za-z0-9+/_=-]{32,})\Z")
"""A whole value that is long and random-looking: hexadecimal, or mixed case with digits."""

SECRET_SHAPES: tuple[tuple[str, str], ...] = (
    ("sk-", r"\bsk-[A-Za-z0-9_-]{16,}"),  # Anthropic, OpenAI and many others
    ("k_", r"\b[srp]k_(?:live|test)_[A-Za-z0-9]{10,}"),  # Stripe
    ("whsec_", r"\bwhsec_[A-Za-z0-9+/=]{16,}"),
    ("gh", r"\bgh[pousr]_[A-Za-z0-9]{20,}"),  # GitHub
    ("github_pat_", r"\bgithub_pat_[A-Za-z0-9_]{20,}"),
    ("gl", r"\bgl(?:pat|dt|rt|cbt|ptt|ft|soat|agent)-[A-Za-z0-9_-]{16,}"),  # GitLab
    ("A", r"\b(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}\b"),  # AWS
    ("AIza", r"\bAIza[A-Za-z0-9_-]{30,}"),  # Google
    ("ya29.", r"\bya29\.[A-Za-z0-9._-]{20,}"),
    ("GOCSPX-", r"\bGOCSPX-[A-Za-z0-9_-]{20,}"),
    ("xox", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),  # Slack
    ("xapp-", r"\bxapp-[A-Za-z0-9-]{10,}"),
    ("hooks.slack.com", r"\bhooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]+"),
    ("/api/webhooks/", r"/api/webhooks/[0-9]+/[A-Za-z0-9_-]+"),  # Discord
    ("npm_", r"\bnpm_[A-Za-z0-9]{20,}"),
    ("pypi-", r"\bpypi-[A-Za-z0-9_-]{16,}"),
    ("cio", r"\bcio[A-Za-z0-9]{32}\b"),  # Cargo
    ("hf_", r"\bhf_[A-Za-z0-9]{20,}"),  # Hugging Face
    ("gsk_", r"\bgsk_[A-Za-z0-9]{20,}"),  # Groq
    ("r8_", r"\br8_[A-Za-z0-9]{20,}"),  # Replicate
    ("xai-", r"\bxai-[A-Za-z0-9]{20,}"),
    ("pplx-", r"\bpplx-[A-Za-z0-9]{20,}"),
    ("tvly-", r"\btvly-[A-Za-z0-9-]{16,}"),
    ("SG.", r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),  # SendGrid
    ("key-", r"\bkey-[0-9a-f]{32}\b"),  # Mailgun
    ("SK", r"\bSK[0-9a-f]{32}\b"),  # Twilio
    ("_v1_", r"\bdo[opr]_v1_[a-f0-9]{40,}"),  # DigitalOcean
    ("lin_", r"\blin_(?:api|oauth)_[A-Za-z0-9]{20,}"),  # Linear
    ("secret_", r"\bsecret_[A-Za-z0-9]{30,}"),  # Notion
    ("ntn_", r"\bntn_[A-Za-z0-9]{30,}"),
    ("dapi", r"\bdapi[a-f0-9]{32}\b"),  # Databricks
    ("gl", r"\bgl(?:sa|c)_[A-Za-z0-9_=]{20,}"),  # Grafana
    ("hv", r"\bhv[sbr]\.[A-Za-z0-9_-]{20,}"),  # Vault
    ("dckr_pat_", r"\bdckr_pat_[A-Za-z0-9_-]{20,}"),
    ("shp", r"\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),  # Shopify
    ("sq0", r"\bsq0[a-z]{3}-[A-Za-z0-9_-]{22,}"),  # Square
    (":AA", r"\b\d{8,10}:AA[A-Za-z0-9_-]{32,}"),  # Telegram
    ("Key=", r"\b(?:AccountKey|SharedAccessKey)=[A-Za-z0-9+/=]{20,}"),  # Azure
    ("sig=", r"[?&]sig=[A-Za-z0-9%+/=]{20,}"),
    ("eyJ", r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),  # JSON web tokens
    ("PRIVATE KEY", r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"),
    ("://", r"(?<=://)(?:[^\s/:@\"']*:[^\s/@\"']+|[^\s/:@\"']{12,})(?=@)"),  # https://user:password@host
    (
        "uthorization",
        r"\b[Aa]uthorization[\"']?\s*[:=]\s*[\"']?(?:[A-Za-z]+\s+)?[A-Za-z0-9._~+/=-]{4,}(?![\w(.])",
    ),
    ("earer", r"\b[Bb]earer\s+[A-Za-z0-9._~+/=-]{8,}"),
    ("Basic", r"\bBasic\s+[A-Za-z0-9._~+/=-]{8,}"),
)
"""How secrets look: a text that any such secret contains, which is quick to look for, and the whole shape."""

SHAPES = tuple((needle, re.compile(shape)) for needle, shape in SECRET_SHAPES)

ASSIGNED = re.compile(r"""(?P<name>[A-Za-z_][A-Za-z0-9_.-]*)["']?\s*[=:]\s*""")
ASSIGNED_VALUE = re.compile(r""""[^"\n]*"|'[^'\n]*'|[^\s"',;&]{4,}""")
"""NAME=value, name: value and "name": "value" in free text."""
ASSIGNED_LITERAL = re.compile(r""""[^"\n$]{8,}"|'[^'\n$]{8,}'|(?<==)(?=[^\s]*[0-9])[^\s"',;&()\[\]{}$.]{8,}(?=\s|\Z)""")
"""The same in source code: quoted, or unquoted right after = with a digit in it."""

ARGUMENT = re.compile(r"--?(?P<name>[A-Za-z][A-Za-z0-9_-]*)\Z")

SHORTEST_SECRET = 8
"""Characters; shorter values of variables are words that occur anywhere."""


class Redactor:
    """Takes the values of secret environment variables out of JSON text."""

    def __init__(self, *environments: Mapping[str, str]) -> None:
        """Each environment maps names of variables to values; those that are secret by name are looked for."""
        values = {
            value
            for variables in environments
            for name, value in variables.items()
            if is_secret_name(name) and len(value) >= SHORTEST_SECRET
        }
        # longest first, since one secret may contain another
        self._secrets = sorted((json.dumps(v, ensure_ascii=False)[1:-1] for v in values), key=len, reverse=True)

    def __call__(self, text: str) -> str:
        """The text without these values."""
        for secret in self._secrets:
            text = text.replace(secret, REDACTED)
        return text


def redact_shapes(text: str) -> str:
    """The text without what looks like a secret; names are not looked at, so code keeps its sense."""
    for needle, shape in SHAPES:
        if needle in text:
            text = shape.sub(REDACTED, text)
    return text


def redact_text(text: str) -> str:
    """The text without what looks like a secret or is assigned to a secret name."""
    return _redact_assigned(redact_shapes(text), ASSIGNED_VALUE)


def redact_source(text: str) -> str:
    """The same for scripts, where `token = read_token()` must stay: only literals and NAME=value go."""
    return _redact_assigned(redact_shapes(text), ASSIGNED_LITERAL)


def _redact_assigned(text: str, values: re.Pattern[str]) -> str:
    parts: list[str] = []
    done = 0
    for assigned in ASSIGNED.finditer(text):
        value = values.match(text, assigned.end())
        if assigned.start() < done or value is None or not is_secret_name(assigned["name"]):
            continue
        bare = value[0].strip("\"'")
        if not HARMLESS.match(bare) and REDACTED not in bare:
            quote = value[0][0] if value[0][0] in "\"'" else ""
            parts += [text[done : value.start()], quote, REDACTED, quote]
            done = value.end()
    return "".join([*parts, text[done:]])


def redact(value: Any, where: str = "", *, omit: bool = False) -> tuple[Any, list[str]]:
    """A JSON value without secrets, and the dotted paths of what was taken out, now or before.

    Secrets become a placeholder; with `omit`, entries of objects that are secret by name are left out.
    """
    if isinstance(value, dict):
        return _redact_mapping(value, where, omit)
    if isinstance(value, list):
        return _redact_list(value, where, omit)
    if isinstance(value, str):
        clean = REDACTED if OPAQUE.match(value) else redact_text(value)
        return clean, [where] if REDACTED in clean else []
    return value, []


def _redact_mapping(value: dict[str, Any], where: str, omit: bool) -> tuple[dict[str, Any], list[str]]:
    headers = where.rpartition(".")[2].lower() == "headers"
    clean: dict[str, Any] = {}
    found: list[str] = []
    for key, item in value.items():
        here = f"{where}.{key}" if where else key
        secret = key.lower() not in HARMLESS_HEADERS if headers else is_secret_name(key)
        if secret and not isinstance(item, dict) and not _harmless(item):
            found.append(here)
            if not omit:
                clean[key] = [REDACTED for _ in item] if isinstance(item, list) else REDACTED
        else:
            clean[key], below = redact(item, here, omit=omit)
            found += below
    return clean, found


def _harmless(item: Any) -> bool:
    if isinstance(item, list):
        return all(map(_harmless, item))
    return item is None or isinstance(item, bool) or HARMLESS.match(str(item)) is not None


def _redact_list(value: list[Any], where: str, omit: bool) -> tuple[list[Any], list[str]]:
    """Like a mapping, but `--api-key` makes a secret of the argument after it."""
    clean: list[Any] = []
    found: list[str] = []
    for index, item in enumerate(value):
        here = f"{where}[{index}]"
        before = value[index - 1] if index else None
        argument = ARGUMENT.match(before) if isinstance(before, str) else None
        if argument and is_secret_name(argument["name"]) and not _harmless(item):
            clean.append(REDACTED)
            found.append(here)
        else:
            kept, below = redact(item, here, omit=omit)
            clean.append(kept)
            found += below
    return clean, found

"""What counts as a secret, and how it is taken out: by the name it is stored under, and by how it looks."""

from __future__ import annotations

import re
from typing import Any

REDACTED = "[REDACTED]"

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
        "pass",
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
SECRET_ENDINGS = ("_key", "_keys", "connection_string", "_conn_str")
SECRET_PARTS = ("api_key", "access_key", "private_key", "secret")
"""A name is secret when one of its words is, or it ends or goes on like this."""

MEASURES = frozenset(
    ("limit", "count", "budget", "usage", "ttl", "timeout", "ms", "seconds", "enabled", "disabled", "type")
)
"""Last words of names that tell of a secret without being one: token_limit, auth_type."""

HARMLESS = re.compile(r"(?i)(true|false|null|none|\$\{?[A-Z_][A-Z0-9_]*(:-)?\}?|)\Z")
"""Values that are no secret whatever their name: switches and references to variables."""

HARMLESS_HEADERS = frozenset(
    ("accept", "accept-encoding", "accept-language", "content-type", "user-agent", "host")
)
"""The only HTTP headers whose values are kept."""

OPAQUE = re.compile(
    r"(?=[^a-z]*[a-z])(?=[^0-9]*[0-9])(?:[0-9a-f]{32,}|(?=[^A-Z]*[A-Z])[A-Za-z0-9+/_=-]{32,})\Z"
)
"""A whole value that is long and random-looking: hexadecimal, or mixed case with digits."""

SECRET_SHAPES: dict[str, str] = {
    "Anthropic, OpenAI and similar keys": r"\bsk-[A-Za-z0-9_-]{16,}",
    "Stripe keys": r"\b[srp]k_(?:live|test)_[A-Za-z0-9]{10,}",
    "webhook signing secrets": r"\bwhsec_[A-Za-z0-9+/=]{16,}",
    "GitHub tokens": r"\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}",
    "GitLab tokens": r"\bgl(?:pat|dt|rt|cbt|ptt|ft|soat|agent)-[A-Za-z0-9_-]{16,}",
    "AWS key ids": r"\b(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}\b",
    "Google keys": r"\bAIza[A-Za-z0-9_-]{30,}|\bya29\.[A-Za-z0-9._-]{20,}|\bGOCSPX-[A-Za-z0-9_-]{20,}",
    "Slack tokens": r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\bxapp-[A-Za-z0-9-]{10,}",
    "webhook addresses": r"https://hooks\.slack\.com/services/[A-Za-z0-9/_-]+"
    r"|https://(?:\w+\.)?discord(?:app)?\.com/api/webhooks/[0-9]+/[A-Za-z0-9_-]+",
    "npm, PyPI, Cargo tokens": r"\bnpm_[A-Za-z0-9]{20,}|\bpypi-[A-Za-z0-9_-]{16,}|\bcio[A-Za-z0-9]{32}\b",
    "Hugging Face, Groq, Replicate": r"\bhf_[A-Za-z0-9]{20,}|\bgsk_[A-Za-z0-9]{20,}|\br8_[A-Za-z0-9]{20,}",
    "xAI, Perplexity, Tavily": r"\bxai-[A-Za-z0-9]{20,}|\bpplx-[A-Za-z0-9]{20,}|\btvly-[A-Za-z0-9-]{16,}",
    "SendGrid, Mailgun, Twilio": r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|\bkey-[0-9a-f]{32}\b"
    r"|\bSK[0-9a-f]{32}\b",
    "DigitalOcean, Linear, Notion": r"\bdo[opr]_v1_[a-f0-9]{40,}|\blin_(?:api|oauth)_[A-Za-z0-9]{20,}"
    r"|\b(?:secret|ntn)_[A-Za-z0-9]{30,}",
    "Databricks, Grafana, Vault": r"\bdapi[a-f0-9]{32}\b|\bgl(?:sa|c)_[A-Za-z0-9_=]{20,}"
    r"|\bhv[sbr]\.[A-Za-z0-9_-]{20,}",
    "Docker, Shopify, Square, Telegram": r"\bdckr_pat_[A-Za-z0-9_-]{20,}|\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"
    r"|\bsq0[a-z]{3}-[A-Za-z0-9_-]{22,}|\b\d{8,10}:AA[A-Za-z0-9_-]{32,}",
    "Azure": r"\b(?:AccountKey|SharedAccessKey)=[A-Za-z0-9+/=]{20,}|[?&]sig=[A-Za-z0-9%+/=]{20,}",
    "JSON web tokens": r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
    "private keys": r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
    "passwords in addresses": r"(?<=://)[^\s/:@\"']*:[^\s/@\"']+(?=@)|(?<=://)[^\s/:@\"']{12,}(?=@)",
    "authorization headers": r"\b[Aa](?:uthorization|UTHORIZATION)[\"']?\s*[:=]\s*[\"']?[^\n\"']{4,}"
    r"|\b(?:[Bb]earer|[Bb]asic|BEARER|BASIC)\s+[A-Za-z0-9._~+/=-]{8,}",
}
"""How secrets look, by who issues them."""

SECRET_SHAPE = re.compile("|".join(SECRET_SHAPES.values()))

ASSIGNED = re.compile(r"""(?P<name>[A-Za-z_][A-Za-z0-9_.-]*)["']?\s*[=:]\s*""")
ASSIGNED_VALUE = re.compile(r""""[^"\n]*"|'[^'\n]*'|[^\s"',;&]{4,}""")
"""NAME=value, name: value and "name": "value" in free text."""

ARGUMENT = re.compile(r"--?(?P<name>[A-Za-z][A-Za-z0-9_-]*)\Z")


def is_secret_name(name: str) -> bool:
    """Whether values under this name are secret, in whatever case and with whatever between its words."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+", "_", name).strip("_").lower()
    words = snake.split("_")
    if words[-1] in MEASURES:
        return False
    return (
        not SECRET_WORDS.isdisjoint(words)
        or snake.endswith(SECRET_ENDINGS)
        or any(part in snake for part in SECRET_PARTS)
    )


def redact_shapes(text: str) -> str:
    """The text without what looks like a secret; names are not looked at, so code keeps its sense."""
    return SECRET_SHAPE.sub(REDACTED, text)


def redact_text(text: str) -> str:
    """The text without what looks like a secret or is assigned to a secret name."""
    text = redact_shapes(text)
    parts: list[str] = []
    done = 0
    for assigned in ASSIGNED.finditer(text):
        value = ASSIGNED_VALUE.match(text, assigned.end())
        if assigned.start() < done or value is None or not is_secret_name(assigned["name"]):
            continue
        bare = value[0].strip("\"'")
        if not HARMLESS.match(bare) and REDACTED not in bare:
            quote = value[0][0] if value[0][0] in "\"'" else ""
            parts += [text[done : value.start()], quote, REDACTED, quote]
            done = value.end()
    return "".join([*parts, text[done:]])


def redact(value: Any, where: str = "") -> tuple[Any, list[str]]:
    """A JSON value without secrets, and the dotted paths of what was taken out. Keys are kept."""
    if isinstance(value, dict):
        return _redact_mapping(value, where)
    if isinstance(value, list):
        return _redact_list(value, where)
    if isinstance(value, str):
        clean = REDACTED if OPAQUE.match(value) else redact_text(value)
        return clean, [where] if clean != value else []
    return value, []


def _redact_mapping(value: dict[str, Any], where: str) -> tuple[dict[str, Any], list[str]]:
    headers = where.rpartition(".")[2].lower() == "headers"
    clean: dict[str, Any] = {}
    found: list[str] = []
    for key, item in value.items():
        here = f"{where}.{key}" if where else str(key)
        secret = str(key).lower() not in HARMLESS_HEADERS if headers else is_secret_name(str(key))
        if secret and not isinstance(item, dict | list):
            harmless = item is None or isinstance(item, bool) or HARMLESS.match(str(item))
            clean[key] = item if harmless else REDACTED
            found += [] if harmless or item == REDACTED else [here]
        elif secret and isinstance(item, list):
            clean[key] = [entry if HARMLESS.match(str(entry)) else REDACTED for entry in item]
            found += [here] if clean[key] != item else []
        else:
            clean[key], below = redact(item, here)
            found += below
    return clean, found


def _redact_list(value: list[Any], where: str) -> tuple[list[Any], list[str]]:
    """Like a mapping, but `--api-key` makes a secret of the argument after it."""
    clean: list[Any] = []
    found: list[str] = []
    for index, item in enumerate(value):
        here = f"{where}[{index}]"
        before = value[index - 1] if index else None
        argument = ARGUMENT.match(before) if isinstance(before, str) else None
        if argument and is_secret_name(argument["name"]) and isinstance(item, str):
            clean.append(item if HARMLESS.match(item) else REDACTED)
            found += [here] if clean[-1] != item else []
        else:
            kept, below = redact(item, here)
            clean.append(kept)
            found += below
    return clean, found

"""Damaged files: wrong bytes, and JSON values of unexpected types."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**63, -(2**70), 10**400, 0.5, -0.0, 1e308, float("nan"), float("inf"), "", " ", "x",
    "\0", "\ud800", "é\u2028", "../../etc/passwd", "/", "-rf", "%s{0}{{}}", "[bold]", "x" * 5000, "1", "nan",
    "2026-02-30T25:00:00Z", "0001-01-01T00:00:00+23:59", [], {}, [None], [[]], {"": None}, [{}], {"a": {"b": []}},
)  # fmt: skip
ODD_BYTES = (
    b"\0", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\n", b"\r", b"\x1b[2J", b"{", b"}", b"[", b"]", b'"', b":", b",",
    b"\\", b"#", b"'", b"- ", b"\t", b"&a", b"*a", b"!!python/object:os.system", b"|", b">", b"9" * 5000, b"[" * 3000,
    b"NaN", b"1e999", b"\\ud800", b"=", b"[[a]]", b"'''",
)  # fmt: skip


def mutate(path: Path, rng: random.Random) -> None:
    """Make a file odd in one to three ways."""
    content = path.read_bytes()
    for _ in range(rng.randint(1, 3)):
        content = _as_json(content, rng) if rng.random() < 0.6 else _as_bytes(content, rng)
    path.write_bytes(content)


def _as_json(content: bytes, rng: random.Random) -> bytes:
    """Change a value of a JSON document, or of one line of a JSONL; other files are changed as bytes."""
    lines = content.splitlines(keepends=True)
    chosen = rng.randrange(len(lines)) if len(lines) > 1 and content.lstrip()[:1] == b"{" else None
    for part in (None, chosen):
        try:
            document = json.loads(content if part is None else lines[part])
        except (ValueError, RecursionError, IndexError, TypeError):
            continue
        changed = json.dumps(_changed(document, rng)).encode()
        if part is None:
            return changed
        return b"".join([*lines[:part], changed + b"\n", *lines[part + 1 :]])
    return _as_bytes(content, rng)


def _changed(document: Any, rng: random.Random) -> Any:
    places = list(_places(document))
    if not places:
        return rng.choice(ODD_VALUES)
    holder, key = rng.choice(places)
    what = rng.random()
    if what < 0.6:
        holder[key] = rng.choice(ODD_VALUES)
    elif what < 0.75:
        del holder[key]
    elif what < 0.9:
        other, name = rng.choice(places)
        try:
            holder[key] = json.loads(json.dumps(other[name]))
        except (KeyError, IndexError):
            holder[key] = None
    elif isinstance(holder, dict):
        holder[str(rng.choice(ODD_VALUES))] = holder.pop(key)
    else:
        holder.insert(key, holder[key])
    return document


def _places(value: Any) -> Any:
    """Every key and index of a document, each with what holds it."""
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])


def _as_bytes(content: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(content) + 1)
    end = min(len(content), start + rng.choice((0, 1, 1, 2, 8, 64)))
    what = rng.random()
    if what < 0.5:
        return content[:start] + rng.choice(ODD_BYTES) + content[end:]
    if what < 0.7:
        return content[:start] + content[end:]
    if what < 0.8:
        return content[:start]
    if what < 0.9:
        return content[:end] + content[start:]
    lines = content.splitlines(keepends=True)
    rng.shuffle(lines)
    return b"".join(lines) if rng.random() < 0.5 else bytes(rng.randrange(256) for _ in range(50))

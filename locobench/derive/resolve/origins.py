"""Tell whether an import can be from this repository."""

from __future__ import annotations

import re

from locobench.derive.code.index import Index


def is_ours(index: Index, row: int) -> bool:
    """Return whether an import can be from this repository."""
    name = index.language.name
    if name in ("javascript", "typescript", "csharp", "go"):
        return True
    text, start = index.texts[index.file[row]], index.start[row]
    if name == "python":
        begin = max(text.rfind(b"from ", 0, start), text.rfind(b"import ", 0, start) if _is_plain(text, start) else -1)
        module = text[begin:start].partition(b" ")[2].lstrip()
        return module.startswith(b".") or _first_word(module) in index.places
    begin = max(text.rfind(b"use ", 0, start), text.rfind(b"import ", 0, start), text.rfind(b"namespace ", 0, start))
    begin = max(begin, text.rfind(b"package ", 0, start))
    head = re.sub(
        r"^(use|import|namespace|package)\s+(static\s+|function\s+|const\s+)*",
        "",
        text[begin:start].decode("utf-8", "replace"),
    )
    if name == "java":
        return any(head.startswith(space) for space in index.namespaces if "." in space)
    first = _first_word(head.encode())
    return not first or first in index.places or first in ("crate", "self", "super")


def _first_word(text: bytes) -> str:
    found = re.match(rb"[\w]+", text.lstrip(b"\\ "))
    return found[0].decode() if found else ""


def _is_plain(text: bytes, start: int) -> bool:
    """Return whether the statement is `import a` and not `from a import b`."""
    line = text.rfind(b"\n", 0, start) + 1
    return text[line:start].lstrip().startswith(b"import ")

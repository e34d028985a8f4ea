"""Build an index of a language's files: read each file, then name the definitions and join them to symbols."""

from __future__ import annotations

from collections.abc import Iterable

from locobench.derive.code.index import Index
from locobench.derive.code.languages import Language
from locobench.derive.code.reader import Reader
from locobench.derive.code.rows import TYPES, Symbol
from locobench.derive.code.scope import MANIFESTS, Source


def build(
    language: Language,
    files: Iterable[Source],
    *,
    mentions: bool = True,
    together: bool = False,
) -> Index:
    """Read a language's files.

    Args:
        files: sorted by path. Tests are not among them; manifests, and files that are left out, are.
        mentions: False to read only definitions.
        together: whether each top folder is a repository of its own.
    """
    index = Index(language, together)
    for path, text, left_out in files:
        if MANIFESTS.search(path):
            index.manifests[path] = text
            continue
        if left_out:
            index.muddy(text)
            continue
        root = language.root(path, text)
        if root.has_error:
            index.left_out["with parse errors"] += 1
            index.muddy(text)
            continue
        Reader(index, path, text, root).read(mentions=mentions)
    _finish(index)
    return index


def _finish(index: Index) -> None:
    """Name the definitions, join them to symbols, and list the mentions of each defined name."""
    by_name: dict[tuple[int, str], int] = {}
    for number, one in enumerate(index.definitions):
        outer = index.definitions[one.parent] if one.parent >= 0 else None
        if one.kind == "nested" or (outer and (outer.symbol < 0 or outer.kind not in TYPES)):
            continue
        if one.kind == "function" and (outer or one.owner):
            one.kind = "method"
        if one.kind == "method" and one.name in (outer and outer.name, one.owner, index.language.constructor):
            one.kind = "constructor"
        one.qualified = ".".join(part for part in (outer and outer.qualified, one.owner, one.name) if part)
        key = (one.file, one.qualified)
        if key not in by_name:
            by_name[key] = len(index.symbols)
            index.symbols.append(Symbol(one.kind, one.name, one.file, one.qualified, []))
        one.symbol = by_name[key]
        symbol = index.symbols[one.symbol]
        symbol.definitions.append(number)
        if symbol.kind != one.kind:
            symbol.kind = "mixed"
    for symbol in index.symbols:
        symbol.owner = by_name.get((symbol.file, symbol.qualified.rpartition(".")[0]), -1)
    defined = {index.name_ids[symbol.name] for symbol in index.symbols if symbol.name in index.name_ids}
    rows: dict[int, list[int]] = {name: [] for name in defined}
    for row, name in enumerate(index.name):
        if name in rows:
            rows[name].append(row)
    index.rows = rows

"""Where is each name defined and mentioned? One pass over a language's files, in columns of numbers.

What a mention means is not decided here (`strict`, `scip`): only where it stands, in whose text, behind which receiver.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from locobench.derive.code.languages import Language
from locobench.derive.code.reader import Reader, places_of
from locobench.derive.code.rows import FUNCTIONS, NOWHERE, TOP_LEVEL, TYPES, Definition, Symbol

_WORD = re.compile(rb"[A-Za-z_$][A-Za-z0-9_$]*")


@dataclass
class Index:
    """The mentions of names in the files of one language."""

    language: Language
    files: list[str] = field(default_factory=list)
    texts: list[bytes] = field(default_factory=list)
    definitions: list[Definition] = field(default_factory=list)
    symbols: list[Symbol] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    name_ids: dict[str, int] = field(default_factory=dict)
    murky: set[str] = field(default_factory=set)
    """Names that stand where nobody can tell what they mean: broken files, macro bodies, variants by #if."""
    namespaces: set[str] = field(default_factory=set)
    places: set[str] = field(default_factory=set)
    """Parts of paths and of namespaces: what a name of this repository can be qualified with."""
    sources: list[tuple[int, str]] = field(default_factory=list)
    """File and text of what it imports: Python's statements, JavaScript's quoted modules."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Files that are no part of questions, by reason."""
    # Columns, a row a mention.
    name: array[int] = field(default_factory=lambda: array("I"))
    file: array[int] = field(default_factory=lambda: array("I"))
    start: array[int] = field(default_factory=lambda: array("I"))
    role: array[int] = field(default_factory=lambda: array("B"))
    receiver: array[int] = field(default_factory=lambda: array("I"))
    scope: array[int] = field(default_factory=lambda: array("i"))
    """Innermost definition around it, by number; TOP_LEVEL, NOWHERE."""
    rows: dict[int, list[int]] = field(default_factory=dict)
    """Name to its mentions, of names that are defined here."""

    def name_id(self, name: str) -> int:
        """Return the number of a name, a new one for a new name."""
        if name not in self.name_ids:
            self.name_ids[name] = len(self.names)
            self.names.append(name)
        return self.name_ids[name]

    def mentions(self, name: str) -> list[int]:
        """Return the rows of a name's mentions."""
        return self.rows.get(self.name_ids.get(name, -1), [])

    def line(self, file: int, offset: int) -> int:
        """Return the line, from 1."""
        return self.texts[file].count(b"\n", 0, offset) + 1

    def item_at(self, file: int, offset: int) -> int | None:
        """Return the symbol in whose text an offset stands; TOP_LEVEL, or None where nobody can tell."""
        return self.item_of(self.innermost(file, offset))

    def item_of(self, definition: int) -> int | None:
        """Return the item that a definition's text counts to: the outermost function, else the innermost class."""
        if definition == NOWHERE:
            return None
        found = TOP_LEVEL
        chain = []
        while definition >= 0:
            chain.append(definition)
            definition = self.definitions[definition].parent
        for number in reversed(chain):
            one = self.definitions[number]
            if one.kind in FUNCTIONS:
                return one.symbol if one.symbol >= 0 else None
            if one.kind in TYPES or one.kind == "container":
                found = one.symbol
            elif one.kind == "nested":
                found = NOWHERE
        return None if found == NOWHERE else found

    def is_inside(self, item: int, symbol: int) -> bool:
        """Whether an item is a symbol, or a part of it."""
        while item >= 0:
            if item == symbol:
                return True
            item = self.symbols[item].owner
        return False

    def innermost(self, file: int, offset: int) -> int:
        """Return the innermost definition around an offset, by number; TOP_LEVEL where there is none."""
        numbers = self.by_file[file]
        at = bisect_right(numbers, offset, key=lambda number: self.definitions[number].start) - 1
        number = numbers[at] if at >= 0 else -1
        while number >= 0 and self.definitions[number].end <= offset:
            number = self.definitions[number].parent
        return number

    by_file: list[list[int]] = field(default_factory=list)
    """The definitions of each file, by number, in the order of their starts."""

    def items_in(self, file: int) -> list[int]:
        """Return the symbols that a file defines."""
        return self._items[file]

    _items: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))


def build(
    language: Language, files: Iterable[tuple[str, bytes]], *, with_tests: bool = False, mentions: bool = True
) -> Index:
    """Read a language's files.

    Args:
        files: paths and contents, sorted by path; tests and generated files left out.
        with_tests: read tests inside the files, too (Rust's `#[cfg(test)]`).
        mentions: False for who only asks what is defined where.
    """
    index = Index(language)
    for path, text in files:
        tree = language.parser(path).parse(language.readable(text))
        if tree.root_node.has_error:
            fenced = text.lstrip().startswith(b"```")
            index.left_out["wrapped in a Markdown fence" if fenced else "with parse errors"] += 1
            index.murky.update(word.decode("ascii") for word in set(_WORD.findall(text)))
            index.places.update(places_of(path))
            continue
        reader = Reader(index, path, text, tree.root_node, with_tests=with_tests)
        reader.read(mentions=mentions)
    _finish(index)
    return index


def _finish(index: Index) -> None:
    """Name the definitions, join them to symbols, and list the mentions of names that are defined here."""
    index.places |= index.namespaces
    by_name: dict[tuple[int, str], int] = {}
    for number, one in enumerate(index.definitions):
        parents = []
        parent = one.parent
        is_item = one.kind != "nested"
        while parent >= 0:
            around = index.definitions[parent]
            if around.kind in ("class", "type", "container"):
                parents.append(around.name)
            else:
                is_item = False
            parent = around.parent
        if not is_item:
            continue
        owner = "" if one.owner in index.namespaces else one.owner
        if one.kind == "function" and (parents or owner):
            one.kind = "method"
        if parents and one.name == parents[0] and one.kind == "method":
            one.kind = "constructor"
        if owner and owner == one.name and one.kind == "method":
            one.kind = "constructor"
        if one.name == index.language.constructor and one.kind == "method":
            one.kind = "constructor"
        one.qualified = ".".join([*reversed(parents), *([owner] if owner else []), one.name])
        key = (one.file, one.qualified)
        if key not in by_name:
            by_name[key] = len(index.symbols)
            index.symbols.append(Symbol(one.kind, one.name, one.file, one.qualified, []))
            index._items[one.file].append(by_name[key])
        one.symbol = by_name[key]
        symbol = index.symbols[one.symbol]
        symbol.definitions.append(number)
        # A Rust type and its impl blocks are one item.
        if symbol.kind == "container":
            symbol.kind = one.kind
        elif symbol.kind != one.kind and one.kind != "container":
            symbol.kind = "mixed"
    for symbol in index.symbols:
        symbol.owner = by_name.get((symbol.file, symbol.qualified.rpartition(".")[0]), -1)
        for number in symbol.definitions:
            symbol.bases += index.definitions[number].bases
    defined = {index.name_ids[symbol.name] for symbol in index.symbols if symbol.name in index.name_ids}
    rows: dict[int, list[int]] = {name: [] for name in defined}
    for row, name in enumerate(index.name):
        if name in rows:
            rows[name].append(row)
    index.rows = rows

"""The index of where each name is defined and mentioned, stored as columns of numbers.

It records where a mention is, in whose text and behind which receiver. `strict` decides what it means.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from locobench.derive.code.imports import Import
from locobench.derive.code.languages import Language
from locobench.derive.code.rows import FUNCTIONS, TOP_LEVEL, Definition, Symbol

_WORD = re.compile(rb"[A-Za-z_$][A-Za-z0-9_$]*")


@dataclass
class Index:
    """The definitions and mentions of names in the files of one language."""

    language: Language
    together: bool = False
    """Whether each top folder is a repository of its own."""
    files: list[str] = field(default_factory=list)
    texts: list[bytes] = field(default_factory=list)
    definitions: list[Definition] = field(default_factory=list)
    by_file: list[list[int]] = field(default_factory=list)
    """The numbers of each file's definitions, ordered by start."""
    symbols: list[Symbol] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    name_ids: dict[str, int] = field(default_factory=dict)
    murky: set[str] = field(default_factory=set)
    """Names in code that is not analysed: files with parse errors or left out, macro bodies."""
    imports: list[Import] = field(default_factory=list)
    spaces: list[frozenset[str]] = field(default_factory=list)
    """File -> the packages or namespaces that it declares."""
    manifests: dict[str, bytes] = field(default_factory=dict)
    """Path -> content of the files that say what an import path means."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Reason -> number of files left out of the questions."""
    # Columns with a row per mention.
    name: array[int] = field(default_factory=lambda: array("I"))
    file: array[int] = field(default_factory=lambda: array("I"))
    start: array[int] = field(default_factory=lambda: array("I"))
    role: array[int] = field(default_factory=lambda: array("B"))
    receiver: array[int] = field(default_factory=lambda: array("I"))
    scope: array[int] = field(default_factory=lambda: array("i"))
    """Number of the innermost enclosing definition, or TOP_LEVEL."""
    rows: dict[int, list[int]] = field(default_factory=dict)
    """Name -> rows of its mentions, for names defined in these files."""

    def home(self, path: str) -> str:
        """Return the repository that a file belongs to: a top folder, or "" if there is only one repository."""
        return path.partition("/")[0] if self.together else ""

    def muddy(self, text: bytes) -> None:
        """Note the names in code that is not analysed: each may be used or defined in it."""
        self.murky |= {word.decode("ascii") for word in {found[0] for found in _WORD.finditer(text)}}

    def name_id(self, name: str) -> int:
        """Return a name's number; a new name gets a new one."""
        if name not in self.name_ids:
            self.name_ids[name] = len(self.names)
            self.names.append(name)
        return self.name_ids[name]

    def add(self, file: int, rows: list[tuple[int, int, int, int, int]]) -> None:
        """Add a file's mentions; a row is (name, start, role, receiver, scope)."""
        self.file.extend([file] * len(rows))
        for at, column in enumerate((self.name, self.start, self.role, self.receiver, self.scope)):
            column.extend([row[at] for row in rows])

    def mentions(self, name: str) -> list[int]:
        """Return the rows of a name's mentions."""
        return self.rows.get(self.name_ids.get(name, -1), [])

    def places(self, symbol: int) -> set[tuple[int, int]]:
        """Return where a symbol's definitions have its name: file and offset."""
        one = self.symbols[symbol]
        return {(one.file, self.definitions[number].name_start) for number in one.definitions}

    def item_at(self, file: int, offset: int) -> int | None:
        """Return the symbol whose text contains an offset, or TOP_LEVEL, or None if it is unknown."""
        return self.item_of(self.innermost(file, offset))

    def item_of(self, definition: int) -> int | None:
        """Return the item that a definition's text belongs to: the outermost function, else the innermost class."""
        found: int | None = TOP_LEVEL
        for one in reversed([*self.around(definition)]):
            if one.kind in FUNCTIONS:
                return one.symbol if one.symbol >= 0 else None
            found = None if one.kind == "nested" else one.symbol
        return found

    def around(self, definition: int) -> Iterator[Definition]:
        """Yield a definition and those that enclose it, from the inside out."""
        while definition >= 0:
            yield self.definitions[definition]
            definition = self.definitions[definition].parent

    def is_inside(self, item: int, symbol: int) -> bool:
        """Return whether an item is a symbol or a part of it."""
        while item >= 0:
            if item == symbol:
                return True
            item = self.symbols[item].owner
        return False

    def innermost(self, file: int, offset: int) -> int:
        """Return the number of the innermost definition around an offset, or TOP_LEVEL."""
        numbers = self.by_file[file]
        at = bisect_right(numbers, offset, key=lambda number: self.definitions[number].start) - 1
        number = numbers[at] if at >= 0 else -1
        while number >= 0 and self.definitions[number].end <= offset:
            number = self.definitions[number].parent
        return number

    def defined_names(self) -> dict[str, list[str]]:
        """Return the qualified names that each file defines, by its path."""
        found: dict[str, list[str]] = {path: [] for path in self.files}
        for symbol in self.symbols:
            found[self.files[symbol.file]].append(symbol.qualified)
        return found

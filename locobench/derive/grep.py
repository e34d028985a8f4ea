"""What one `grep -w` finds in the files of an index."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable
from functools import cached_property
from itertools import accumulate

from locobench.derive.code.index import Index
from locobench.derive.code.rows import TOP_LEVEL, Role
from locobench.derive.resolve.resolver import Item


class Grep:
    """Finds words in the text of all files."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self._hits: dict[str, list[tuple[int, int]]] = {}
        self._text = b"\0".join(index.texts)
        self._starts = list(accumulate((len(text) + 1 for text in index.texts), initial=0))

    def hits(self, name: str) -> list[tuple[int, int]]:
        """Return the hits of `grep -w`: file, and offset of the word, for every line that contains it."""
        if name not in self._hits:
            # One pass finds the hits of all names: there may be thousands, and megabytes of text.
            places: Iterable[int] | None = self._words.get(name.encode())
            if places is None:
                word = re.compile(rb"(?<![\w$])%b(?![\w$])" % re.escape(name.encode()))
                places = [found.start() for found in word.finditer(self._text)]
            hits: list[tuple[int, int]] = []
            line_end = -1
            for at in places:
                if at > line_end:
                    file = bisect_right(self._starts, at) - 1
                    hits.append((file, at - self._starts[file]))
                    line_end = self._text.find(b"\n", at)
                    line_end = len(self._text) if line_end < 0 else line_end
            self._hits[name] = hits
        return self._hits[name]

    @cached_property
    def _words(self) -> dict[bytes, array[int]]:
        """Name of a symbol -> where it stands in the text of all files."""
        found: dict[bytes, array[int]] = {symbol.name.encode(): array("Q") for symbol in self.index.symbols}
        for one in re.finditer(rb"[A-Za-z0-9_$]+", self._text):
            if (places := found.get(one[0])) is not None:
                places.append(one.start())
        return found

    def items(self, number: int) -> set[Item]:
        """Return the items around a grep's hits, without imports, the definition and the target itself."""
        index, symbol = self.index, self.index.symbols[number]
        imports = {
            (index.file[row], index.start[row]) for row in index.mentions(symbol.name) if index.role[row] == Role.IMPORT
        }
        found = set()
        for file, offset in self.hits(symbol.name):
            item = index.item_at(file, offset)
            # Nobody who greps for a name would count its definition as a use.
            own = {index.definitions[one].name_start for one in symbol.definitions}
            if (file, offset) in imports or (file == symbol.file and offset in own) or item == number:
                continue
            found.add(Item(file, TOP_LEVEL if item is None else item))
        return found

"""What one `grep -w` finds in the files of an index."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from functools import cached_property
from itertools import accumulate

from locobench.derive.code.index import Index
from locobench.derive.code.rows import TOP_LEVEL, Role
from locobench.derive.resolve.strict import Item


class Grep:
    """Finds the names of symbols in the text of all files."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self._text = b"\0".join(index.texts)
        self._starts = list(accumulate((len(text) + 1 for text in index.texts), initial=0))

    @cached_property
    def _words(self) -> dict[bytes, array[int]]:
        """Name of a symbol -> where it stands in the text of all files.

        One pass finds the hits of all names: there may be thousands, and megabytes of text.
        """
        found: dict[bytes, array[int]] = {symbol.name.encode(): array("Q") for symbol in self.index.symbols}
        for one in re.finditer(rb"[A-Za-z0-9_$]+", self._text):
            if (places := found.get(one[0])) is not None:
                places.append(one.start())
        return found

    def items(self, number: int) -> set[Item]:
        """Return the items around a grep's hits, the first of each line, without imports, definition and target."""
        index, symbol = self.index, self.index.symbols[number]
        imports = {
            (index.file[row], index.start[row]) for row in index.mentions(symbol.name) if index.role[row] == Role.IMPORT
        }
        # Nobody who greps for a name would count its definition as a use.
        own = index.places(number)
        found = set()
        line_end = -1
        for at in self._words[symbol.name.encode()]:
            if at <= line_end:
                continue
            line_end = self._text.find(b"\n", at)
            line_end = len(self._text) if line_end < 0 else line_end
            file = bisect_right(self._starts, at) - 1
            place = file, at - self._starts[file]
            item = index.item_at(*place)
            if place not in imports | own and item != number:
                found.add(Item(file, TOP_LEVEL if item is None else item))
        return found

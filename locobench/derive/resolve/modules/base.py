"""What an import leads to, whatever the language: files, and the names that they provide."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

from locobench.derive.code.imports import EVERYTHING, Import
from locobench.derive.code.index import Index


class Modules:
    """Tells what the names that a file imports mean. What cannot be resolved leads to no symbol.

    This class is for languages whose files share one space of names: C.
    """

    def __init__(self, index: Index) -> None:
        self.index = index
        self.named: dict[str, list[Import]] = defaultdict(list)
        """Name or local name -> imports."""
        self.local: dict[tuple[int, str], list[Import]] = defaultdict(list)
        """(file, local name) -> imports."""
        self.wide: dict[int, list[Import]] = defaultdict(list)
        """File -> imports of everything in a module."""
        for one in index.imports:
            for name in {one.name, one.local}:
                self.named[name].append(one)
            if one.local and one.module:
                self.local[one.file, one.local].append(one)
            if one.name == EVERYTHING:
                self.wide[one.file].append(one)

    def brings(self, one: Import, number: int) -> bool:
        """Return whether an import takes this symbol under its own name."""
        return False

    def reaches(self, file: int, path: str, number: int) -> bool:
        """Return whether a file that writes `path` before a symbol's name means that symbol."""
        return False

    def sees(self, file: int, number: int) -> bool:
        """Return whether a bare name in another file can mean the symbol."""
        symbol = self.index.symbols[number]
        one = self.index.definitions[symbol.definitions[0]]
        head = self.index.texts[symbol.file][one.start : one.name_start]
        return self.index.files[symbol.file].endswith(".h") or re.search(rb"\bstatic\b", head) is None

    def is_renamed(self, number: int) -> bool:
        """Return whether other files may use the symbol under a name of their own choice."""
        return False


class FileModules(Modules):
    """Modules that are files: Python and TypeScript."""

    OUTSIDE, UNKNOWN = -1, -2

    def __init__(self, index: Index) -> None:
        super().__init__(index)
        self.numbers = {path: number for number, path in enumerate(index.files)}
        self._found: dict[tuple[str, str], int] = {}

    def find(self, file: int, module: str) -> int:
        """Return the file that a module is, or OUTSIDE or UNKNOWN."""
        folder = posixpath.dirname(self.index.files[file])
        if (folder, module) not in self._found:
            self._found[folder, module] = self._find(folder, module)
        return self._found[folder, module]

    def _find(self, folder: str, module: str) -> int:
        raise NotImplementedError

    def targets(self, one: Import) -> list[int]:
        """Return the files that an import names, or UNKNOWN among them."""
        return [found for found in (self.find(one.file, one.module),) if found != self.OUTSIDE]

    def provides(self, module: int, number: int, seen: frozenset[int] = frozenset()) -> bool:
        """Return whether a file defines a symbol or hands it on under its name."""
        symbol = self.index.symbols[number]
        if module < 0 or module in seen or "." in symbol.qualified:
            return False
        if module == symbol.file:
            return True
        # Files may have one name for different things, so it is followed to where it comes from.
        named = self.local[module, symbol.name]
        known = [
            one.name in (symbol.name, EVERYTHING)
            and self.provides(self.find(module, one.module), number, seen | {module})
            for one in named or self.wide[module]
        ]
        return bool(known) and (all(known) if named else any(known))

    def sees(self, file: int, number: int) -> bool:
        return bool(self.local[file, self.index.symbols[number].name])

    @cached_property
    def importers(self) -> dict[int, set[int]]:
        """File -> the files whose import statements name it."""
        found: dict[int, set[int]] = defaultdict(set)
        for one in self.index.imports:
            for target in self.targets(one) if one.module else ():
                if target not in (self.UNKNOWN, one.file):
                    found[target].add(one.file)
        return found

    @cached_property
    def unknown(self) -> set[str]:
        """The names of files that an import may lead to which cannot be resolved; "" if it may lead to any."""
        found = set()
        for one in self.index.imports:
            if one.module and self.UNKNOWN in self.targets(one):
                found |= self._last_words(one)
        return found

    def _last_words(self, one: Import) -> set[str]:
        raise NotImplementedError

    def is_murky(self, file: int) -> bool:
        """Return whether an import that cannot be read or resolved may name this file."""
        return not {"", stem_of(self.index.files[file])}.isdisjoint(self.unknown | self.index.murky)

    def all_importers(self, file: int) -> set[int]:
        """Return the files that import this one, directly or through others."""
        found: set[int] = set()
        pending = [file]
        while pending:
            for importer in self.importers.get(pending.pop(), set()) - found - {file}:
                found.add(importer)
                pending.append(importer)
        return found


def stem_of(path: str) -> str:
    """Return the name by which a file is imported: of its folder, if the file is the folder's face."""
    folder, _, file = path.rpartition("/")
    stem = file.partition(".")[0]
    face = "__init__" if file.endswith(".py") else "index"
    return folder.rpartition("/")[2] if stem == face else stem


def upwards(folder: str) -> Iterator[str]:
    """Yield a folder and those above it."""
    while folder:
        yield folder
        folder = posixpath.dirname(folder)
    yield ""

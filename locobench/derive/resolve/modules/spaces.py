"""Imports of languages whose files share namespaces: Go, Java, C# and PHP."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict

from locobench.derive.code.imports import EVERYTHING, WHOLE, Import
from locobench.derive.code.index import Index
from locobench.derive.resolve.modules.base import Modules, upwards


class GoModules(Modules):
    """Go: a package is a folder; its path is that of the module in go.mod and the folder below it."""

    def __init__(self, index: Index) -> None:
        super().__init__(index)
        self._roots = {}
        for path, text in index.manifests.items():
            if path.endswith("go.mod") and (found := re.search(rb'^module\s+"?([^\s"]+)', text, re.MULTILINE)):
                self._roots[posixpath.dirname(path)] = found[1].decode("utf-8", "replace")
        self._packages = {
            posixpath.dirname(path): spaces for path, spaces in zip(index.files, index.spaces, strict=True)
        }
        self._imported: dict[int, list[tuple[str, str]]] = defaultdict(list)
        for one in index.imports:
            if (folder := self._folder_of(one.file, one.module)) is not None and one.name == WHOLE:
                self._imported[one.file].append((folder, one.local))

    def _folder_of(self, file: int, path: str) -> str | None:
        for root, module in sorted(self._roots.items(), key=lambda item: -len(item[1])):
            if path == module or path.startswith(module + "/"):
                if not self._is_meant(self.index.files[file], root, module):
                    return None
                folder = posixpath.join(root, path[len(module) + 1 :]).rstrip("/")
                return folder if folder in self._packages else None
        return None

    def _is_meant(self, path: str, root: str, module: str) -> bool:
        """Return whether a file's repository is that of a module, or its go.mod requires the module unreplaced."""
        home = self.index.home
        if home(path) == home(root + "/"):
            return True
        own = next((one for one in upwards(posixpath.dirname(path)) if one in self._roots), None)
        text = b"" if own is None else self.index.manifests[posixpath.join(own, "go.mod")]
        name = re.escape(module.encode())
        required = re.search(rb"^(?:require\s+|\s+)\"?" + name + rb"\"?\s+v", text, re.MULTILINE)
        return bool(required) and not re.search(name + rb"\"?(?:\s+v\S+)?\s+=>", text)

    def reaches(self, file: int, path: str, number: int) -> bool:
        home = posixpath.dirname(self.index.files[self.index.symbols[number].file])
        return any(
            folder == home and (local == path or (not local and self._packages[home] == {path}))
            for folder, local in self._imported[file]
        )

    def sees(self, file: int, number: int) -> bool:
        own = self.index.symbols[number].file
        return posixpath.dirname(self.index.files[file]) == posixpath.dirname(self.index.files[own]) and (
            self.index.spaces[file] == self.index.spaces[own]
        )


class SpaceModules(Modules):
    """Java, C# and PHP: an import gives a name whole, from the package or namespace that files declare."""

    def __init__(self, index: Index) -> None:
        super().__init__(index)
        self._mark = "\\" if index.language.name == "php" else "."
        self._global = {one.module for one in index.imports if one.name == EVERYTHING and one.local == "global"}

    def _whole(self, number: int) -> set[str]:
        symbol = self.index.symbols[number]
        return {self._joined(space, symbol.qualified) for space in self._spaces(symbol.file)}

    def _spaces(self, file: int) -> frozenset[str]:
        return self.index.spaces[file] or frozenset({""})

    def _joined(self, space: str, name: str) -> str:
        whole = f"{space}{self._mark}{name}" if space else name
        return whole.casefold() if self._mark == "\\" else whole

    def brings(self, one: Import, number: int) -> bool:
        return one.local == one.name and self._joined(one.module, one.name) in self._whole(number)

    def sees(self, file: int, number: int) -> bool:
        symbol = self.index.symbols[number]
        if self.local[file, symbol.name]:
            return True
        own, theirs = self._spaces(file), self._spaces(symbol.file)
        above = {whole.rpartition(self._mark)[0] for whole in self._whole(number)}
        if any(one.module in above for one in self.wide[file]):
            return True
        if "." in symbol.qualified:
            return False
        if self.index.language.name != "csharp":
            return own == theirs
        return bool(self._global & theirs) or any(
            f"{one}.".startswith(f"{space}.") or not space for one in own for space in theirs
        )

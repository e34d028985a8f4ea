"""Build the graph of imports between files, for languages whose imports name files."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator

from locobench.derive.code.index import Index

_SUFFIXES = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
_TYPESCRIPT = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
# Prefixes that a build tool maps to folders by its own rules.
_MAPPED = ("@/", "~/", "~", "#", "/")


class ImportGraph:
    """The imports between an index's files."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.importers: dict[int, set[int]] = defaultdict(set)
        """File -> the files whose import statements name it."""
        self.unclear = ""
        """Why the graph cannot be trusted; "" if it can."""
        self._files = {path: number for number, path in enumerate(index.files)}
        self._by_tail: dict[str, list[str]] = defaultdict(list)
        for path in index.files:
            self._by_tail[_stem(path)].append(path)
        resolve = self._of_python if index.language.name == "python" else self._of_javascript
        for file, text in index.sources:
            for target in resolve(index.files[file], text):
                if self._files[target] != file:
                    self.importers[self._files[target]].add(file)

    def is_murky(self, file: int) -> bool:
        """Return whether a file that could not be parsed may import this one."""
        return _stem(self.index.files[file]) in self.index.murky

    def all_importers(self, file: int) -> set[int]:
        """Return the files that import this one, directly or through others."""
        found: set[int] = set()
        pending = [file]
        while pending:
            for importer in self.importers[pending.pop()] - found - {file}:
                found.add(importer)
                pending.append(importer)
        return found

    def _of_javascript(self, path: str, quoted: str) -> Iterator[str]:
        name = quoted.strip("'\"`").partition("?")[0]
        if name.startswith(_MAPPED):
            self.unclear = "imports by a build tool's own prefixes"
            return
        if not name.startswith("."):
            return
        base = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
        base = "" if base == "." else base
        stem, dot, suffix = base.rpartition(".")
        tried = [base, *(base + end for end in _SUFFIXES)]
        tried += [stem + end for end in _TYPESCRIPT.get(dot + suffix, ())]
        tried += [posixpath.join(base, "index" + end) for end in _SUFFIXES]
        found = next((one for one in tried if one in self._files), None)
        if found:
            yield found

    def _of_python(self, path: str, statement: str) -> Iterator[str]:
        text = re.sub(r"#[^\n]*|[()\\]", " ", statement)
        if found := re.match(r"\s*from\s+(\.*)\s*([\w.]*)\s+import\s+(.*)", text, re.DOTALL):
            dots, module, names = found.groups()
            taken = [part.split()[0] for part in names.split(",") if part.split()]
            base = self._relative(path, dots, module) if dots else self._absolute(path, module)
            if base is None:
                return
            if own := self._module(base):
                yield own
            for name in taken:
                if name != "*" and (below := self._module(posixpath.join(base, name))):
                    yield below
        else:
            for part in text.strip().removeprefix("import").split(","):
                if part.split() and (base := self._absolute(path, part.split()[0])) is not None:
                    own = self._module(base)
                    if own:
                        yield own

    def _module(self, base: str) -> str | None:
        return next((one for one in (f"{base}.py", f"{base}/__init__.py") if one in self._files), None)

    @staticmethod
    def _relative(path: str, dots: str, module: str) -> str:
        folder = posixpath.dirname(path)
        for _ in dots[1:]:
            folder = posixpath.dirname(folder)
        return posixpath.join(folder, *module.split(".")) if module else folder

    def _absolute(self, path: str, module: str) -> str | None:
        """Return a dotted module's path without suffix, or None if it is not in the repository."""
        parts = module.split(".")
        tail = "/".join(parts)
        found = {
            one.removesuffix(".py").removesuffix("/__init__")
            for one in self._by_tail.get(parts[-1], ())
            if f"/{one}".endswith((f"/{tail}.py", f"/{tail}/__init__.py"))
        }
        # Its first part is in a folder that is not itself a package, or beside the importing file.
        roots = {base for base in found if f"{base[: len(base) - len(tail)]}__init__.py" not in self._files}
        beside = posixpath.join(posixpath.dirname(path), tail)
        if beside in roots:
            return beside
        if len(roots) > 1:
            self.unclear = "modules of one name in several places"
        return roots.pop() if len(roots) == 1 else None


def _stem(path: str) -> str:
    folder, _, file = path.rpartition("/")
    stem = file.partition(".")[0]
    return folder.rpartition("/")[2] if stem in ("__init__", "index") else stem

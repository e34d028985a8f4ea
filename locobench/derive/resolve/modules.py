"""What an import leads to.

A path is resolved whole, by the manifests and the files that exist, never by its last word.
"""

from __future__ import annotations

import posixpath
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

from locobench.derive.code.imports import DEFAULT, EVERYTHING, OTHER, VALUE, WHOLE, Import
from locobench.derive.code.index import Index


class Modules:
    """Tells what the names that a file imports mean. What cannot be resolved leads to no symbol.

    This class is for languages whose files share one space of names (C, C++).
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
        """Return whether `path` before a symbol's name, in a file, leads to the symbol."""
        return path in self.index.namespaces

    def sees(self, file: int, number: int) -> bool:
        """Return whether a bare name in another file can mean the symbol."""
        symbol = self.index.symbols[number]
        one = self.index.definitions[symbol.definitions[0]]
        head = self.index.texts[symbol.file][one.start : one.name_start]
        is_header = self.index.files[symbol.file].endswith((".h", ".hh", ".hpp", ".hxx"))
        return is_header or "." in symbol.qualified or re.search(rb"\bstatic\b", head) is None

    def is_renamed(self, number: int) -> bool:
        """Return whether other files may use the symbol under a name of their own choice."""
        return False


class FileModules(Modules):
    """Modules that are files: Python, JavaScript and TypeScript."""

    OUTSIDE, UNKNOWN = -1, -2

    def __init__(self, index: Index) -> None:
        super().__init__(index)
        self.numbers = {path: number for number, path in enumerate(index.files)}
        self._found: dict[tuple[str, str], int] = {}
        self._names: dict[int, set[str]] = defaultdict(set)
        for one in index.imports:
            self._names[one.file] |= {one.name, one.local}

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
        return (
            module == symbol.file
            or symbol.name in self._names[module]
            or any(self.provides(self.find(module, one.module), number, seen | {module}) for one in self.wide[module])
        )

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
        return not {"", _stem(self.index.files[file])}.isdisjoint(self.unknown | self.index.murky)

    def all_importers(self, file: int) -> set[int]:
        """Return the files that import this one, directly or through others."""
        found: set[int] = set()
        pending = [file]
        while pending:
            for importer in self.importers.get(pending.pop(), set()) - found - {file}:
                found.add(importer)
                pending.append(importer)
        return found


_DISTRIBUTION = re.compile(
    r"""^[ \t]*name[ \t]*=[ \t]*(?:(["'])([A-Za-z0-9][\w.-]*)\1|([a-z0-9][a-z0-9.-]*)[ \t]*$)""", re.M
)
# A line or a quoted string that begins with a name, as PEP 508 and Poetry write it.
_REQUIREMENT = re.compile(
    r"""(?:^|["'])[ \t]*([A-Za-z0-9][\w.-]*)[ \t]*(?:\[[\w, -]*\])?[ \t]*(?:[<>=!~;(@][^"'\n]*)?(?=["']|$)""",
    re.MULTILINE,
)


def _distribution(name: str) -> str:
    """Return a distribution's name in its normal form (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


class PythonModules(FileModules):
    """Python: absolute imports begin at a folder above the importing file, or at a package of a project beside it."""

    def __init__(self, index: Index) -> None:
        super().__init__(index)
        self._by_stem: dict[str, list[str]] = defaultdict(list)
        for path in index.files:
            self._by_stem[_stem(path)].append(re.sub(r"(/__init__)?\.py$", "", path))
        self._packages = {posixpath.dirname(path) for path in index.files if path.endswith("__init__.py")}
        self._projects = {
            posixpath.dirname(path)
            for path in (*index.manifests, *index.files)
            if path.endswith(("pyproject.toml", "setup.py", "setup.cfg"))
        }

    def targets(self, one: Import) -> list[int]:
        modules = [one.module]
        if one.name not in (WHOLE, EVERYTHING, OTHER):
            modules.append(_below(one.module, one.name))
        return [found for module in modules if (found := self.find(one.file, module)) != self.OUTSIDE]

    def _find(self, folder: str, module: str) -> int:
        name = module.lstrip(".")
        parts = name.split(".") if name else []
        if dots := len(module) - len(name):
            for _ in range(dots - 1):
                folder = posixpath.dirname(folder)
            return self._at(posixpath.join(folder, *parts))
        tail = "/".join(parts)
        roots = {
            base[: len(base) - len(tail)].rstrip("/")
            for base in self._by_stem[parts[-1]]
            if f"/{base}".endswith(f"/{tail}")
        }
        roots = {root for root in roots if not self._is_inside_package(root)}
        near = roots & self._roots(folder)
        if not near:
            # Installed beside the importing file: a package of a project, at its top or in its `src`.
            near = {
                root for root in roots
                if posixpath.join(root, parts[0]) in self._packages
                and not self._projects.isdisjoint({root, posixpath.dirname(root)})
            }  # fmt: skip
        if len(near) == 1 and self._is_meant(folder, root := near.pop()):
            return self._at(posixpath.join(root, tail))
        return self.UNKNOWN if roots else self.OUTSIDE

    def _is_meant(self, folder: str, root: str) -> bool:
        """Return whether a folder's repository is that of a package, or requires the distribution it is part of."""
        home = self.index.home
        if home(folder + "/") == home(root + "/"):
            return True
        own = {name for above in (root, posixpath.dirname(root)) if (name := self._distributions.get(above))}
        return len(own) == 1 and own <= self._required[home(folder + "/")]

    @cached_property
    def _manifests(self) -> dict[str, str]:
        texts = zip(self.index.files, self.index.texts, strict=True)
        scripts = {path: text for path, text in texts if path.endswith("setup.py")}
        return {path: text.decode("utf-8", "replace") for path, text in (self.index.manifests | scripts).items()}

    @cached_property
    def _distributions(self) -> dict[str, str]:
        """Folder -> the distribution that its pyproject.toml, setup.cfg or setup.py names."""
        found = {}
        for path, text in sorted(self._manifests.items(), reverse=True):
            if path.endswith(("pyproject.toml", "setup.cfg", "setup.py")) and (name := _DISTRIBUTION.search(text)):
                found[posixpath.dirname(path)] = _distribution(name[2] or name[3])
        return found

    @cached_property
    def _required(self) -> dict[str, set[str]]:
        """Repository -> the distributions that its manifests require."""
        found: dict[str, set[str]] = defaultdict(set)
        for path, text in self._manifests.items():
            found[self.index.home(path)] |= {_distribution(name) for name in _REQUIREMENT.findall(text)}
        return found

    def _at(self, base: str) -> int:
        found = (self.numbers.get(one.removeprefix("/")) for one in (f"{base}.py", f"{base}/__init__.py"))
        return next((one for one in found if one is not None), self.OUTSIDE)

    def _is_inside_package(self, folder: str) -> bool:
        return any(one in self._packages for one in _upwards(folder))

    def _roots(self, folder: str) -> set[str]:
        """Return where the absolute imports of a folder's files may begin."""
        above = [one for one in _upwards(folder) if one or not self.index.together]
        outer = [number for number, one in enumerate(above) if one in self._packages]
        # Without a package around it, a file is a script, or in a namespace package that begins anywhere above.
        return {above[outer[-1] + 1]} if outer and outer[-1] + 1 < len(above) else set(above) if not outer else {""}

    def _last_words(self, one: Import) -> set[str]:
        return {one.module.rpartition(".")[2], one.name}

    def provides(self, module: int, number: int, seen: frozenset[int] = frozenset()) -> bool:
        symbol = self.index.symbols[number]
        if module < 0 or module in seen or "." in symbol.qualified:
            return False
        if module == symbol.file:
            return True
        # Repositories may have one name for different things, so it is followed to where it comes from.
        found = self.local[module, symbol.name] or self.wide[module]
        known = [
            one.name in (symbol.name, EVERYTHING)
            and self.provides(self.find(module, one.module), number, seen | {module})
            for one in found
        ]
        return all(known) if self.local[module, symbol.name] and known else any(known)

    def brings(self, one: Import, number: int) -> bool:
        name = self.index.symbols[number].name
        if one.name != name or one.local != name or self.find(one.file, _below(one.module, name)) >= 0:
            return False
        return self.provides(self.find(one.file, one.module), number)

    def reaches(self, file: int, path: str, number: int) -> bool:
        found = self.local[file, path]
        modules = [one.module if one.name == WHOLE else _below(one.module, one.name) for one in found]
        return bool(found) and all(
            one.name != OTHER and self.provides(self.find(file, module), number)
            for one, module in zip(found, modules, strict=True)
        )


_SUFFIXES = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
_TYPESCRIPT = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
_BUILT_IN = frozenset(
    """assert async_hooks buffer bun child_process cluster console constants crypto dgram diagnostics_channel dns domain
    events fs http http2 https inspector module net os path perf_hooks process punycode querystring readline repl stream
    string_decoder timers tls tty url util v8 vm wasi worker_threads zlib""".split()  # noqa: SIM905
)


class ScriptModules(FileModules):
    """JavaScript and TypeScript: relative paths, tsconfig's `paths` and `baseUrl`, packages of the workspace."""

    def __init__(self, index: Index) -> None:
        super().__init__(index)
        self._settings: dict[str, list[tuple[str, dict[str, list[str]]]] | None] = defaultdict(list)
        """Folder -> (folder of baseUrl, `paths`) of its configurations; None if one cannot be read."""
        self._outside: set[str] = set()
        self._workspace: dict[str, tuple[str, str]] = {}
        for path, text in index.manifests.items():
            folder, _, file = path.rpartition("/")
            content = _json(text)
            if file == "package.json":
                for key in ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies"):
                    self._outside |= set(_mapping(_mapping(content).get(key)))
                if isinstance(name := _mapping(content).get("name"), str):
                    self._workspace[name] = (folder, str(_mapping(content).get("source") or ""))
            elif re.match(r"[tj]sconfig", file):
                self._configure(folder, content)

    def _configure(self, folder: str, content: object) -> None:
        known = self._settings[folder]
        options = _mapping(_mapping(content).get("compilerOptions"))
        if content is None or known is None or options.get("rootDirs"):
            self._settings[folder] = None
        else:
            base, paths = options.get("baseUrl"), options.get("paths")
            known.append((posixpath.normpath(posixpath.join(folder, str(base or "."))), {
                **({"*": ["*"]} if base else {}),
                **{one: [str(to) for to in where] for one, where in _mapping(paths).items() if isinstance(where, list)},
            }))  # fmt: skip

    def _find(self, folder: str, module: str) -> int:
        module = module.partition("?")[0]
        if module.startswith("."):
            return self._at(posixpath.normpath(posixpath.join(folder, module)))
        own = next((one for one in _upwards(folder) if one in self._settings), None)
        settings = self._settings[own] if own is not None else []
        if settings is None:
            return self.UNKNOWN
        for base, paths in settings:
            matching = [one for one in paths if re.fullmatch(re.escape(one).replace(r"\*", "(.*)"), module)]
            for pattern in sorted(matching, key=lambda one: -len(one.partition("*")[0])):
                inner = module[len(pattern.partition("*")[0]) : len(module) - len(pattern.partition("*")[2])]
                for target in paths[pattern]:
                    found = self._at(posixpath.normpath(posixpath.join(base, target.replace("*", inner))))
                    if found >= 0:
                        return found
                if pattern != "*":
                    return self.UNKNOWN
        parts = module.split("/")
        package = "/".join(parts[:2] if module.startswith("@") else parts[:1])
        if package in self._workspace:
            return self._in_workspace(*self._workspace[package], module[len(package) + 1 :])
        is_outside = (
            package in self._outside or package in _BUILT_IN or ":" in package or f"@types/{package}" in self._outside
        )
        return self.OUTSIDE if is_outside else self.UNKNOWN

    def _in_workspace(self, folder: str, source: str, inner: str) -> int:
        tried = [inner, f"src/{inner}"] if inner else [source, "src/index", "index"]
        found = [self._at(posixpath.normpath(posixpath.join(folder, one))) for one in tried if one]
        return next((one for one in found if one >= 0), self.UNKNOWN)

    def _at(self, base: str) -> int:
        base = "" if base == "." else base
        stem, dot, suffix = base.rpartition(".")
        tried = [base, *(base + end for end in _SUFFIXES)]
        tried += [stem + end for end in _TYPESCRIPT.get(dot + suffix, ())]
        tried += [posixpath.join(base, "index" + end) for end in _SUFFIXES]
        return next((self.numbers[one] for one in tried if one in self.numbers), self.OUTSIDE)

    def _last_words(self, one: Import) -> set[str]:
        _, mark, last = one.module.rpartition("/")
        return {last.partition(".")[0] if mark and not re.fullmatch(r"@[^/]*/[^/]*", one.module) else ""}

    @cached_property
    def _defaults(self) -> dict[int, set[str]]:
        found: dict[int, set[str]] = defaultdict(set)
        for one in self.index.imports:
            if not one.module and one.local == DEFAULT:
                found[one.file].add(one.name)
        return found

    @cached_property
    def _takers(self) -> dict[int, list[Import]]:
        """File -> imports of its default export, or of all of it."""
        found: dict[int, list[Import]] = defaultdict(list)
        for one in self.index.imports:
            if one.module and one.name in (DEFAULT, VALUE, WHOLE, OTHER):
                found[self.find(one.file, one.module)].append(one)
        return found

    def brings(self, one: Import, number: int) -> bool:
        symbol = self.index.symbols[number]
        if not one.module:
            return one.name == symbol.name and one.local in (symbol.name, DEFAULT)
        if one.local != symbol.name:
            return False
        found = self.find(one.file, one.module)
        if one.name in (DEFAULT, VALUE):
            return found == symbol.file and self._defaults[found] == {symbol.name}
        return one.name == symbol.name and self.provides(found, number)

    def reaches(self, file: int, path: str, number: int) -> bool:
        found = self.local[file, path]
        return bool(found) and all(
            one.name in (WHOLE, VALUE) and self.provides(self.find(file, one.module), number) for one in found
        )

    def is_renamed(self, number: int) -> bool:
        symbol = self.index.symbols[number]
        if symbol.name not in self._defaults[symbol.file]:
            return False
        return self.is_murky(symbol.file) or any(one.local != symbol.name for one in self._takers[symbol.file])


class GoModules(Modules):
    """Go: a package is a folder; its path is that of the module in go.mod and the folder below it."""

    def __init__(self, index: Index) -> None:
        super().__init__(index)
        self._roots = {}
        for path, text in index.manifests.items():
            if path.endswith("go.mod") and (found := re.search(rb'^module\s+"?([^\s"]+)', text, re.MULTILINE)):
                self._roots[posixpath.dirname(path)] = found[1].decode("utf-8", "replace")
        self._packages = {_folder(path): spaces for path, spaces in zip(index.files, index.spaces, strict=True)}
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
        own = next((one for one in _upwards(_folder(path)) if one in self._roots), None)
        text = b"" if own is None else self.index.manifests[posixpath.join(own, "go.mod")]
        name = re.escape(module.encode())
        required = re.search(rb"^(?:require\s+|\s+)\"?" + name + rb"\"?\s+v", text, re.MULTILINE)
        return bool(required) and not re.search(name + rb"\"?(?:\s+v\S+)?\s+=>", text)

    def reaches(self, file: int, path: str, number: int) -> bool:
        home = _folder(self.index.files[self.index.symbols[number].file])
        return any(
            folder == home and (local == path or (not local and self._packages[home] == {path}))
            for folder, local in self._imported[file]
        )

    def sees(self, file: int, number: int) -> bool:
        own = self.index.symbols[number].file
        return _folder(self.index.files[file]) == _folder(self.index.files[own]) and (
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

    def reaches(self, file: int, path: str, number: int) -> bool:
        name = self.index.symbols[number].name
        if self._mark == ".":
            return any(
                space == path or (self.index.language.name == "csharp" and space.endswith(f".{path}"))
                for space in self._spaces(self.index.symbols[number].file)
            )
        if path.startswith("\\"):
            starts = {path.strip("\\")}
        else:
            first, mark, rest = path.rstrip("\\").partition("\\")
            if first == "namespace":
                starts = {self._joined(space, rest).strip("\\") for space in self._spaces(file)}
            elif found := self.local[file, first]:
                starts = {one.module + "\\" + one.name + mark + rest for one in found}
            else:
                starts = {self._joined(space, first + mark + rest) for space in self._spaces(file)}
        return {self._joined(start, name) for start in starts} <= self._whole(number)

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
        if self._mark == "\\" and symbol.kind != "class" and theirs == {""}:
            return True
        if self.index.language.name != "csharp":
            return own == theirs
        return bool(self._global & theirs) or any(
            f"{one}.".startswith(f"{space}.") or not space for one in own for space in theirs
        )


class RustModules(Modules):
    """Rust: a path begins in this crate, in a crate of the workspace, or outside."""

    def __init__(self, index: Index) -> None:
        super().__init__(index)
        self._crates: dict[str, str] = {}
        """Folder of a crate -> its name in paths."""
        for path, text in index.manifests.items():
            if path.endswith("Cargo.toml"):
                content = _toml(text)
                name = _mapping(content.get("lib")).get("name") or _mapping(content.get("package")).get("name")
                if isinstance(name, str):
                    self._crates[posixpath.dirname(path)] = name.replace("-", "_")

    def _crate(self, file: int) -> str:
        return next((one for one in _upwards(_folder(self.index.files[file])) if one in self._crates), "")

    def _places(self, file: int) -> set[str]:
        """Return the words that a path may have before the names of a file."""
        parts = self.index.files[file].removesuffix(".rs").split("/")
        return {
            *parts,
            *self.index.spaces[file],
            self._crates.get(self._crate(file), "crate"),
            "crate",
            "self",
            "super",
        }

    def _is_inside(self, file: int, path: list[str], depth: int = 0) -> bool:
        first = path[0]
        if first in ("crate", "self", "super") or first in self.index.spaces[file]:
            return True
        if found := self.local[file, first]:
            return depth < 5 and all(
                self._is_inside(file, [*(one.module.split("::") if one.module else ()), one.name], depth + 1)
                for one in found
                if one.name != first or one.module
            )
        if first in self._crates.values():
            return True
        return first in self.index.namespaces and any(
            one.module and self._is_inside(file, one.module.split("::"), depth + 5) for one in self.wide[file]
        )

    def _leads(self, file: int, path: list[str], number: int) -> bool:
        symbol = self.index.symbols[number]
        if not path or not path[0] or not self._is_inside(file, path):
            return False
        others = [one.file for one in self.named[symbol.name] if one.file != file]
        if path[0] in ("crate", "self", "super") and self._crate(file) != self._crate(symbol.file):
            return any(self._crate(one) == self._crate(file) for one in others)
        owner = symbol.qualified.split(".")[-2:-1]
        return path[-1] in {*self._places(symbol.file), *owner} or any(path[-1] in self._places(one) for one in others)

    def brings(self, one: Import, number: int) -> bool:
        return one.local == one.name and self._leads(one.file, one.module.split("::"), number)

    def reaches(self, file: int, path: str, number: int) -> bool:
        return self._leads(file, path.removesuffix("::").split("::"), number)

    def sees(self, file: int, number: int) -> bool:
        symbol = self.index.symbols[number]
        one = self.index.definitions[symbol.definitions[0]]
        if self.local[file, symbol.name] or b"macro_rules" in self.index.texts[symbol.file][one.start : one.name_start]:
            return True
        return any(self._leads(file, one.module.split("::"), number) for one in self.wide[file])


def modules_of(index: Index) -> Modules:
    """Return what resolves the imports of an index's language."""
    kinds: dict[str, type[Modules]] = {
        "python": PythonModules, "javascript": ScriptModules, "typescript": ScriptModules, "go": GoModules,
        "java": SpaceModules, "csharp": SpaceModules, "php": SpaceModules, "rust": RustModules,
    }  # fmt: skip
    return kinds.get(index.language.name, Modules)(index)


def _below(module: str, name: str) -> str:
    return module + name if module.endswith(".") else f"{module}.{name}"


def _stem(path: str) -> str:
    folder, _, file = path.rpartition("/")
    stem = file.partition(".")[0]
    face = "__init__" if file.endswith(".py") else "index"
    return folder.rpartition("/")[2] if stem == face else stem


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _upwards(folder: str) -> Iterator[str]:
    """Yield a folder and those above it."""
    while folder:
        yield folder
        folder = _folder(folder)
    yield ""


def _json(text: bytes) -> object:
    """Return what a configuration says, which may have comments and commas before a bracket; None if unreadable."""
    import json

    plain = re.sub(rb'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?\*/', lambda found: found[1] or b"", text, flags=re.DOTALL)
    try:
        return json.loads(re.sub(rb",(\s*[}\]])", rb"\1", plain).decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None


def _toml(text: bytes) -> dict[str, object]:
    try:
        return tomllib.loads(text.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return {}


def _mapping(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}

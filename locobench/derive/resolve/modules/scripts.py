"""TypeScript's imports, by files, tsconfig and workspaces."""

from __future__ import annotations

import json
import posixpath
import re
from collections import defaultdict
from functools import cached_property

from locobench.derive.code.imports import DEFAULT, OTHER, WHOLE, Import
from locobench.derive.code.index import Index
from locobench.derive.resolve.modules.base import FileModules, upwards

_SUFFIXES = (".ts", ".tsx", ".mts", ".cts")
_TYPESCRIPT = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
_BUILT_IN = frozenset(
    """assert async_hooks buffer bun child_process cluster console constants crypto dgram diagnostics_channel dns domain
    events fs http http2 https inspector module net os path perf_hooks process punycode querystring readline repl stream
    string_decoder timers tls tty url util v8 vm wasi worker_threads zlib""".split()  # noqa: SIM905
)


class ScriptModules(FileModules):
    """TypeScript: relative paths, tsconfig's `paths` and `baseUrl`, packages of the workspace."""

    def __init__(self, index: Index) -> None:
        super().__init__(index)
        self._settings: dict[str, list[tuple[str, dict[str, list[str]]]] | None] = defaultdict(list)
        """Folder -> (folder of baseUrl, `paths`) of its configurations; None if one cannot be read."""
        self._outside: set[str] = set()
        self._workspace: dict[str, str] = {}
        """Name of a package -> its folder."""
        for path, text in index.manifests.items():
            folder, _, file = path.rpartition("/")
            content = _read_json(text)
            if file == "package.json":
                for key in ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies"):
                    self._outside |= set(_mapping(_mapping(content).get(key)))
                if isinstance(name := _mapping(content).get("name"), str):
                    self._workspace[name] = folder
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
        own = next((one for one in upwards(folder) if one in self._settings), None)
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
            inner = module[len(package) + 1 :] or "index"
            tried = [self._at(posixpath.join(self._workspace[package], one)) for one in (inner, f"src/{inner}")]
            return next((one for one in tried if one >= 0), self.UNKNOWN)
        is_outside = (
            package in self._outside or package in _BUILT_IN or ":" in package or f"@types/{package}" in self._outside
        )
        return self.OUTSIDE if is_outside else self.UNKNOWN

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
            if one.module and one.name in (DEFAULT, WHOLE, OTHER):
                found[self.find(one.file, one.module)].append(one)
        return found

    def brings(self, one: Import, number: int) -> bool:
        symbol = self.index.symbols[number]
        if not one.module:
            return one.name == symbol.name and one.local in (symbol.name, DEFAULT)
        if one.local != symbol.name:
            return False
        found = self.find(one.file, one.module)
        if one.name == DEFAULT:
            return found == symbol.file and self._defaults[found] == {symbol.name}
        return one.name == symbol.name and self.provides(found, number)

    def reaches(self, file: int, path: str, number: int) -> bool:
        found = self.local[file, path]
        return bool(found) and all(
            one.name == WHOLE and self.provides(self.find(file, one.module), number) for one in found
        )

    def is_renamed(self, number: int) -> bool:
        symbol = self.index.symbols[number]
        if symbol.name not in self._defaults[symbol.file]:
            return False
        return self.is_murky(symbol.file) or any(one.local != symbol.name for one in self._takers[symbol.file])


def _read_json(text: bytes) -> object:
    """Return what a configuration says, which may have comments and commas before a bracket; None if unreadable."""
    plain = re.sub(rb'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?\*/', lambda found: found[1] or b"", text, flags=re.DOTALL)
    try:
        return json.loads(re.sub(rb",(\s*[}\]])", rb"\1", plain).decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None


def _mapping(value: object) -> dict[str, object]:
    """Return a table of a manifest; {} for anything else."""
    return value if isinstance(value, dict) else {}

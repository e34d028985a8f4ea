"""Python's imports, by packages, projects and what they require."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from functools import cached_property

from locobench.derive.code.imports import EVERYTHING, OTHER, WHOLE, Import
from locobench.derive.code.index import Index
from locobench.derive.resolve.modules.base import FileModules, stem_of, upwards

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
            self._by_stem[stem_of(path)].append(re.sub(r"(/__init__)?\.py$", "", path))
        self._packages = {posixpath.dirname(path) for path in index.files if path.endswith("__init__.py")}
        self._projects = {
            posixpath.dirname(path)
            for path in (*index.manifests, *index.files)
            if path.endswith(("pyproject.toml", "setup.py", "setup.cfg"))
        }

    def targets(self, one: Import) -> list[int]:
        modules = [one.module]
        if one.name not in (WHOLE, EVERYTHING, OTHER):
            modules.append(_joined(one.module, one.name))
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
        roots = {root for root in roots if self._packages.isdisjoint(upwards(root))}
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

    def _roots(self, folder: str) -> set[str]:
        """Return where the absolute imports of a folder's files may begin."""
        above = [one for one in upwards(folder) if one or not self.index.together]
        outer = [number for number, one in enumerate(above) if one in self._packages]
        # Without a package around it, a file is a script, or in a namespace package that begins anywhere above.
        return {*above[outer[-1] + 1 :][:1]} if outer else {*above}

    def _last_words(self, one: Import) -> set[str]:
        return {one.module.rpartition(".")[2], one.name}

    def brings(self, one: Import, number: int) -> bool:
        name = self.index.symbols[number].name
        if one.name != name or one.local != name or self.find(one.file, _joined(one.module, name)) >= 0:
            return False
        return self.provides(self.find(one.file, one.module), number)

    def reaches(self, file: int, path: str, number: int) -> bool:
        found = self.local[file, path]
        modules = [one.module if one.name == WHOLE else _joined(one.module, one.name) for one in found]
        return bool(found) and all(
            one.name != OTHER and self.provides(self.find(file, module), number)
            for one, module in zip(found, modules, strict=True)
        )


def _joined(module: str, name: str) -> str:
    """Return the module `name` in a module, which may be relative."""
    return module + name if module.endswith(".") else f"{module}.{name}"

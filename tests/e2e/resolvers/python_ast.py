"""Facts about a Python repository by Python's own parser: scopes, imports and classes, without inference of types.

Quicker than pyright by far, for repositories of many files. What is called on a value whose type must be inferred is no
use here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib.util import resolve_name
from pathlib import Path
from typing import NamedTuple

from tests.e2e.resolvers.facts import Facts
from tests.e2e.resolvers.python_imports import imports, named

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef


class Meant(NamedTuple):
    """What an expression means: a module (`name` is ""), or an item of one."""

    file: str
    name: str


class AstFacts(Facts):
    """Facts about the Python files of a repository."""

    def __init__(self, root: Path, files: list[str]) -> None:
        super().__init__(())
        self.trees = {file: ast.parse((root / file).read_bytes()) for file in files}
        self.modules, self.homes, self.tops = named(root, files)
        self.bound: dict[str, dict[str, ast.AST]] = {file: dict(_bound(tree.body)) for file, tree in self.trees.items()}
        self.classes: dict[Meant, ast.ClassDef] = {}
        for file, tree in self.trees.items():
            self._declare(file, tree.body, "")
        for file, tree in self.trees.items():
            _Uses(self, file).visit(tree)
        for importer, imported in imports(root, files):
            self.add("import", imported, importer)

    def _declare(self, file: str, body: list[ast.stmt], above: str) -> None:
        for one in _flat(body):
            if isinstance(one, ast.ClassDef):
                self.add("item", f"{file}: {above}{one.name}", "class")
                self.classes[Meant(file, above + one.name)] = one
                self._declare(file, one.body, f"{above}{one.name}.")
            elif isinstance(one, _Function):
                kind = "function" if not above else "constructor" if one.name == "__init__" else "method"
                self.add("item", f"{file}: {above}{one.name}", kind)

    def module(self, file: str, name: str, level: int = 0) -> Meant | None:
        """Return the module that an import in a file names."""
        home, own = self.homes[file]
        if level:
            package = own if file.endswith("__init__.py") else own.rpartition(".")[0]
            try:
                name = resolve_name("." * level + name, package)
            except ImportError:
                return None
        for top in [home, *self.tops]:
            if found := self.modules.get((top, name)):
                return Meant(found, "")
        return None

    def named(self, file: str, name: str, seen: frozenset[Meant] = frozenset()) -> Meant | None:
        """Return what a name means at the top level of a file."""
        one = self.bound[file].get(name)
        if one is None or Meant(file, name) in seen:
            return None
        if isinstance(one, ast.Import | ast.ImportFrom):
            return self.imported(file, one, name, seen | {Meant(file, name)})
        return Meant(file, name)

    def imported(
        self, file: str, node: ast.Import | ast.ImportFrom, name: str, seen: frozenset[Meant] = frozenset()
    ) -> Meant | None:
        """Return what a name means that an import statement binds."""
        for alias in node.names:
            if name != (alias.asname or alias.name.partition(".")[0]):
                continue
            if isinstance(node, ast.Import):
                return self.module(file, alias.name if alias.asname else name)
            base = self.module(file, node.module or "", node.level)
            found = self.named(base.file, alias.name, seen) if base else None
            below = f"{node.module}.{alias.name}" if node.module else alias.name
            return found or self.module(file, below, node.level)
        return None

    def attribute(self, base: Meant, name: str) -> Meant | None:
        """Return what `base.name` means: in a module, or in a class and those above it."""
        if not base.name:
            return self.named(base.file, name) or self.module(
                base.file, f"{self.homes[base.file][1]}.{name}" if base.file.endswith("__init__.py") else ""
            )
        if base in self.classes:
            own = Meant(base.file, f"{base.name}.{name}")
            if self.kind(f"{own.file}: {own.name}"):
                return own
            for above in self.bases(base):
                if found := self.attribute(above, name):
                    return found
        return None

    def bases(self, one: Meant) -> list[Meant]:
        """Return the classes that a class names as its bases."""
        found = []
        for base in self.classes[one].bases:
            meant = self.expression(one.file, base.value if isinstance(base, ast.Subscript) else base)
            if meant and meant != one:
                found.append(meant)
        return found

    def expression(self, file: str, node: ast.expr) -> Meant | None:
        """Return what a dotted name means at the top level of a file."""
        if isinstance(node, ast.Name):
            return self.named(file, node.id)
        if isinstance(node, ast.Attribute) and (base := self.expression(file, node.value)):
            return self.attribute(base, node.attr)
        return None


class _Uses(ast.NodeVisitor):
    """Finds what the names in a file mean, and whose text they stand in."""

    def __init__(self, facts: AstFacts, file: str) -> None:
        self.facts, self.file = facts, file
        self.scopes: list[tuple[_Scope | None, dict[str, ast.AST]]] = []
        self.above: list[str] = []
        self.item = f"{file}: <top level>"
        self.in_function = False

    def _meant(self, node: ast.expr) -> Meant | None:
        if isinstance(node, ast.Attribute):
            own = next((name for name in reversed(self.owners) if name), None) if self.owners else None
            if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls") and own:
                return self.facts.attribute(own, node.attr)
            base = self._meant(node.value)
            return self.facts.attribute(base, node.attr) if base else None
        if not isinstance(node, ast.Name):
            return None
        for number, (scope, names) in enumerate(reversed(self.scopes)):
            if node.id in names and (number == 0 or not isinstance(scope, ast.ClassDef)):
                one = names[node.id]
                is_import = isinstance(one, ast.Import | ast.ImportFrom)
                return self.facts.imported(self.file, one, node.id) if is_import else None  # type: ignore[arg-type]
        return self.facts.named(self.file, node.id)

    @property
    def owners(self) -> list[Meant]:
        return [Meant(self.file, ".".join(self.above))] if self.above else []

    def _use(self, node: ast.Name | ast.Attribute) -> None:
        meant = self._meant(node) if isinstance(node.ctx, ast.Load) else None
        if meant and meant.name:
            self.facts.add("use", f"{meant.file}: {meant.name}", self.item)
        self.generic_visit(node)

    visit_Name = _use
    visit_Attribute = _use

    def _define(self, node: _Function | ast.ClassDef) -> None:
        before, self_function = self.item, self.in_function
        is_class = isinstance(node, ast.ClassDef)
        if not self.in_function:
            self.item = f"{self.file}: {'.'.join([*self.above, node.name])}"
        outside: list[ast.AST] = [*node.decorator_list]
        if isinstance(node, ast.ClassDef):
            outside += [*node.bases, *node.keywords]
            if not self.in_function:
                for above in self.facts.bases(Meant(self.file, ".".join([*self.above, node.name]))):
                    self.facts.add("base", f"{above.file}: {above.name}", self.item)
        else:
            outside += [node.args, *([node.returns] if node.returns else [])]
        for one in outside:
            self.visit(one)
        names = dict(_bound(node.body))
        if isinstance(node, _Function):
            names |= {one.arg: one for one in _arguments(node.args)}
            names = {name: one for name, one in names.items() if name not in set(_globals(node.body))}
        self.scopes.append((node, names))
        if is_class and not self.in_function:
            self.above.append(node.name)
        self.in_function = self.in_function or not is_class
        for statement in node.body:
            self.visit(statement)
        self.in_function = self_function
        if is_class and not self.in_function:
            self.above.pop()
        self.scopes.pop()
        self.item = before

    visit_FunctionDef = _define
    visit_AsyncFunctionDef = _define
    visit_ClassDef = _define

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.visit(node.args)
        self.scopes.append((node, {one.arg: one for one in _arguments(node.args)}))
        self.visit(node.body)
        self.scopes.pop()

    def _comprehend(self, node: ast.AST) -> None:
        names = {one.id: one for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
        self.scopes.append((None, dict(names)))
        self.generic_visit(node)
        self.scopes.pop()

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehend


def _flat(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a scope, those under `if`, `try` and the like too."""
    for one in body:
        yield one
        if not isinstance(one, _Function | ast.ClassDef):
            for field in ("body", "orelse", "finalbody"):
                yield from _flat(getattr(one, field, []))
            for handler in (*getattr(one, "handlers", []), *getattr(one, "cases", [])):
                yield from _flat(handler.body)


def _bound(body: list[ast.stmt]) -> Iterator[tuple[str, ast.AST]]:
    """Yield the names that a scope binds."""
    for one in _flat(body):
        if isinstance(one, _Function | ast.ClassDef):
            yield one.name, one
        elif isinstance(one, ast.Import | ast.ImportFrom):
            for alias in one.names:
                yield alias.asname or alias.name.partition(".")[0], one
        else:
            for node in _inner(one):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    yield node.id, node
                elif isinstance(node, ast.ExceptHandler) and node.name:
                    yield node.name, node


def _inner(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a statement's nodes, without scopes of their own and other statements."""
    yield node
    scopes = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.stmt)
    for one in ast.iter_child_nodes(node):
        if not isinstance(one, scopes):
            yield from _inner(one)


def _arguments(node: ast.arguments) -> list[ast.arg]:
    more = [one for one in (node.vararg, node.kwarg) if one]
    return [*node.posonlyargs, *node.args, *node.kwonlyargs, *more]


def _globals(body: list[ast.stmt]) -> Iterator[str]:
    for one in _flat(body):
        if isinstance(one, ast.Global):
            yield from one.names

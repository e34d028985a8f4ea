"""Facts from language servers (pyright, intelephense, clangd), asked for one symbol after the other."""

from __future__ import annotations

import ast
import json
import re
from bisect import bisect_right
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

from tests.e2e.resolvers.facts import MODULES, Facts
from tests.e2e.resolvers.lsp import LanguageServer
from tests.e2e.resolvers.python_imports import imports

_TESTS = re.compile(
    r"(^|/)(__)?(tests?|testing|specs?|testdata|fixtures?|mocks?|benchmarks?|benches|bench)(__)?/"
    r"|(^|/)(test_[^/]*|[^/]*_test|conftest)\.py$|Test\.php$|(^|/)(test[^/]*|[^/]*[_-]tests?)\.[ch]$|(_|/)tests?\.rs$"
)
_SUFFIXES = {"python": (".py",), "php": (".php",), "c": (".c", ".h")}
# Kinds of the protocol's SymbolKind.
_CLASSES, _FUNCTIONS, _METHODS = {5, 10, 11, 23}, {12}, {6, 9}
_IMPORTS = {
    "php": r"^\s*use\s[^;]*;|^\s*namespace\b.*",
}
_COMMENTS = re.compile(r"""(?P<no>"(?:[^"\\]|\\.)*"|'(?:[^'\\\n]|\\.)*')|/\*.*?\*/|//[^\n]*""", re.DOTALL)


def files_of(language: str, root: Path) -> list[str]:
    """Return a language's files below a folder, without tests."""
    paths = (path.relative_to(root) for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    return sorted(
        path.as_posix()
        for path in paths
        if path.suffix in _SUFFIXES[language]
        and not {".git", "node_modules"} & {*path.parts}
        and not _TESTS.search(path.as_posix())
    )


class Span(NamedTuple):
    """An item's place in a file, in lines and columns from 0 (UTF-16)."""

    start: tuple[int, int]
    end: tuple[int, int]
    name: str
    kind: str
    at: tuple[int, int]
    """Where its name stands."""


class Served(Facts):
    """Facts that a language server gives when they are asked for."""

    def __init__(self, language: str, root: Path, files: list[str]) -> None:
        super().__init__(())
        self.language, self.root = language, root
        self.files = files
        self.spans: dict[str, list[Span]] = {}
        self.silent: dict[str, list[tuple[tuple[int, int], tuple[int, int]]]] = defaultdict(list)
        """Where a name is no use: imports, strings."""
        self.heads: dict[str, list[tuple[tuple[int, int], tuple[int, int], str]]] = defaultdict(list)
        """Where the supertypes of a type stand."""
        self.asked: dict[str, list[tuple[str, tuple[int, int]]]] = {}

    def __enter__(self) -> Served:
        commands = {
            "python": ["node", str(MODULES / "pyright/langserver.index.js"), "--stdio"],
            "php": ["node", str(MODULES / "intelephense/lib/intelephense.js"), "--stdio"],
            "c": ["clangd", "--background-index=false", "--log=error"],
        }
        if self.language == "python":
            # Code for another system is code, too.
            # Where repositories lie side by side, each is installed: its top and its `src` can be imported from.
            beside = [path for path in sorted(self.root.iterdir()) if (path / ".git").exists()]
            extra = [str(one) for path in beside for one in (path, path / "src") if one.is_dir()]
            # Without extraPaths, pyright looks into `src` by itself.
            settings = {"pythonPlatform": "All"} | ({"extraPaths": extra} if extra else {})
            (self.root / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
        if self.language == "c":
            made = [
                {"directory": str(self.root), "file": path, "arguments": ["cc", "-x", "c", "-I.", "-c", path]}
                for path in self.files
            ]
            (self.root / "compile_commands.json").write_text(json.dumps(made), encoding="utf-8")
        options: dict[str, Any] = (
            {"storagePath": "/tmp/intelephense", "clearCache": True} if self.language == "php" else {}
        )
        self.server = LanguageServer(commands[self.language], self.root, self.language, options)
        if self.language == "php":
            self.server.wait_until_indexed()
        for path in self.files:
            self.server.open(path)
            self._read(path)
        if self.language == "python":
            for importer, imported in imports(self.root, self.files):
                self.add("import", imported, importer)
        return self

    def __exit__(self, *details: object) -> None:
        self.server.__exit__(*details)

    def _read(self, path: str) -> None:
        text = (self.root / path).read_text(encoding="utf-8", errors="replace")
        if self.language == "python":
            _Python(self, path, text).visit(ast.parse(text))
        else:
            self.spans[path] = []
            uri = {"textDocument": {"uri": (self.root / path).as_uri()}}
            for one in self.server.request("textDocument/documentSymbol", uri) or []:
                self._take(path, one, [])
            starts = _starts(text)
            for found in re.finditer(_IMPORTS.get(self.language, "$^"), text, re.MULTILINE):
                self.silent[path].append((_place(starts, found.start()), _place(starts, found.end())))
            for found in _COMMENTS.finditer(text):
                if not found["no"]:
                    self.silent[path].append((_place(starts, found.start()), _place(starts, found.end())))
            for span in self.spans[path]:
                if span.kind == "class":
                    self.heads[path].append((span.at, self._head_end(path, text, starts, span), span.name))
        for span in self.spans[path]:
            self.add("item", span.name, span.kind)

    def _head_end(self, path: str, text: str, starts: list[int], span: Span) -> tuple[int, int]:
        begin = starts[span.at[0]] + span.at[1]
        found = text.find("{", begin)
        return _place(starts, found if found >= 0 else len(text))

    def _take(self, path: str, one: dict[str, Any], above: list[str]) -> None:
        """Keep a symbol of the server's tree that is an item, and those inside classes."""
        kind, name, inner = one["kind"], one["name"].split("(")[0], above
        place = one["range"]
        at = (one["selectionRange"]["start"]["line"], one["selectionRange"]["start"]["character"])
        span = (place["start"]["line"], place["start"]["character"]), (place["end"]["line"], place["end"]["character"])
        if kind in _CLASSES:
            inner = [*above, name]
            self.spans[path].append(Span(*span, f"{path}: {'.'.join(inner)}", "class", at))
        elif kind in _FUNCTIONS | _METHODS:
            word = "constructor" if name == "__construct" else "method" if above else "function"
            self.spans[path].append(Span(*span, f"{path}: {'.'.join([*above, name])}", word, at))
            return
        elif kind in (13, 14) and not above:
            self.spans[path].append(Span(at, at, f"{path}: {name}", "constant", at))
        for below in one.get("children") or []:
            self._take(path, below, inner)

    def users(self, item: str) -> set[str]:
        found = set()
        for path, place in self._references(item):
            if not any(start <= place < end for start, end in self.silent[path]):
                found.add(self._item(path, place))
        return found

    def subtypes(self, item: str) -> set[str]:
        return {
            name
            for path, place in self._references(item)
            for start, end, name in self.heads[path]
            if start <= place < end and name != item
        }

    def _references(self, item: str) -> list[tuple[str, tuple[int, int]]]:
        if item not in self.asked:
            path = item.partition(": ")[0]
            places = [span.at for span in self.spans.get(path, ()) if span.name == item]
            found = [one for place in places for one in self.server.references(path, *place)]
            self.asked[item] = [
                (file, (line, column)) for file, line, column in found
                if file in self.spans and not any(span.at == (line, column) for span in self.spans[file])
            ]  # fmt: skip
        return self.asked[item]

    def _item(self, path: str, place: tuple[int, int]) -> str:
        around = [span for span in self.spans[path] if span.start <= place < span.end]
        functions = [span for span in around if span.kind not in ("class", "constant")]
        if functions:
            return min(functions, key=lambda span: span.start).name
        return max(around, key=lambda span: span.start).name if around else f"{path}: <top level>"


class _Python(ast.NodeVisitor):
    """Items, imports, strings and bases of a Python file, by Python's own parser."""

    def __init__(self, facts: Served, path: str, text: str) -> None:
        self.facts, self.path = facts, path
        self.lines = re.findall(r"[^\n]*\n|[^\n]+", text)
        self.above: list[str] = []
        self.in_function = False
        facts.spans[path] = []

    def _at(self, line: int, column: int) -> tuple[int, int]:
        """Return a place in UTF-16 units; `ast` counts bytes."""
        before = self.lines[line - 1].encode()[:column].decode("utf-8", "replace") if line <= len(self.lines) else ""
        return line - 1, len(before.encode("utf-16-le")) // 2

    def _span(self, node: Any) -> tuple[tuple[int, int], tuple[int, int]]:
        return self._at(node.lineno, node.col_offset), self._at(node.end_lineno, node.end_col_offset)

    def _define(self, node: Any, word: str, kind: str) -> None:
        if self.in_function:
            self.generic_visit(node)
            return
        start, end = self._span(node)
        for one in node.decorator_list:
            start = min(start, self._at(one.lineno, one.col_offset))
        line, column = self._at(node.lineno, node.col_offset)
        # The name stands behind the keywords, maybe after a line that is continued.
        at = (line, re.compile(rf"(?:{word})\s+").match(self.lines[line], column).end())  # type: ignore[union-attr]
        name = ".".join([*self.above, node.name])
        self.facts.spans[self.path].append(Span(start, end, f"{self.path}: {name}", kind, at))
        if kind == "class":
            for base in node.bases:
                outer = base.value if isinstance(base, ast.Subscript) else base
                self.facts.heads[self.path].append((*self._span(outer), f"{self.path}: {name}"))
            self.above.append(node.name)
            self.generic_visit(node)
            self.above.pop()
        else:
            self.in_function = True
            self.generic_visit(node)
            self.in_function = False

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        kind = "function" if not self.above else "constructor" if node.name == "__init__" else "method"
        self._define(node, r"async\s+def|def", kind)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._define(node, "class", "class")

    def visit_Assign(self, node: ast.Assign | ast.AnnAssign) -> None:
        for one in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if isinstance(one, ast.Name) and not self.above and not self.in_function:
                at = self._at(one.lineno, one.col_offset)
                self.facts.spans[self.path].append(Span(at, at, f"{self.path}: {one.id}", "constant", at))
        self.generic_visit(node)

    visit_AnnAssign = visit_Assign

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        self.facts.silent[self.path].append(self._span(node))

    visit_ImportFrom = visit_Import

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        # What stands in an f-string's braces is code.
        for one in node.values:
            if isinstance(one, ast.FormattedValue):
                self.generic_visit(one)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self.facts.silent[self.path].append(self._span(node))


def _starts(text: str) -> list[int]:
    return [0, *(found.end() for found in re.finditer("\n", text))]


def _place(starts: list[int], offset: int) -> tuple[int, int]:
    line = bisect_right(starts, offset) - 1
    return line, offset - starts[line]

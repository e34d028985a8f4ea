"""The languages that questions can be derived for, and the facts that reading their code needs.

There is one row per language. To add one, add a row, a file of queries, and the grammar's wheel in pyproject.toml.
"""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path

from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser, Query, Tree

QUERIES = Path(__file__).parent / "queries"
LIBRARY_NAMES = Path(__file__).parent / "names"

LATEST = 6
"""How many trees are remembered: a change's files are read as they were and as they became, more than once each."""


@dataclass(frozen=True)
class Language:
    """The facts about a language that the index needs."""

    name: str
    """The name in templates/environment/languages.toml."""
    title: str
    suffixes: tuple[str, ...]
    grammars: dict[str, tuple[str, str]]
    """Suffix -> (module in the grammar's wheel, its function); "" is for all other suffixes."""
    tests: str
    """Regular expression that matches the paths of tests."""
    selves: frozenset[str] = frozenset()
    """Receivers that mean the object itself, its class or what is above it."""
    implicit_self: bool = False
    """Whether a bare name can be a method of the enclosing class; a bracket behind it or `::` before it tells."""
    constructor: str | None = None
    """The name of all constructors, if it is not the class's name."""
    special: str = r"$^"
    """Regular expression for functions that are used without being named."""
    structural: bool = True
    """Whether questions about the structure are asked; those from the history are in every language."""
    packaged: bool = False
    """Whether manifests tell which repository an import of a package leads to."""
    blank: str = ""
    """Regular expression for valid code that the grammar cannot parse; it is read as spaces."""
    shared: str = ""
    """Name of the queries and of the library's names that dialects share."""

    def is_test(self, path: str) -> bool:
        """Return whether a path in the repository belongs to a test."""
        return re.search(self.tests, "/" + path) is not None

    def readable(self, text: bytes) -> bytes:
        """Return a file's text for the parser: the same length, with spaces for what the grammar cannot parse."""
        if not self.blank:
            return text
        blank = re.compile(self.blank.encode(), re.MULTILINE)
        return blank.sub(lambda found: re.sub(rb"[^\n]", b" ", found[0]), text)

    def root(self, path: str, text: bytes) -> Node:
        """Parse a file; the latest few are remembered."""
        return _tree(*self._grammar(path), self.readable(text)).root_node

    def queries(self, path: str) -> tuple[Query, Query]:
        """Return a file's queries for definitions and for names."""
        return _queries(self.name, self.shared, *self._grammar(path))

    @cached_property
    def library_names(self) -> frozenset[str]:
        """The names in the language and its library, which could be confused with the repository's names."""
        return frozenset((LIBRARY_NAMES / f"{self.shared or self.name}.txt").read_text(encoding="utf-8").split())

    def is_special(self, name: str) -> bool:
        """Return whether a function with this name is used implicitly: a constructor, an operator, an entry point."""
        return name == self.constructor or re.fullmatch(self.special, name) is not None

    def _grammar(self, path: str) -> tuple[str, str]:
        suffix = path[path.rfind(".") :]
        return self.grammars.get(suffix) or self.grammars[""]


_FOLDERS = r"/(__)?(tests?|testing|specs?|testdata|fixtures?|mocks?|benchmarks?|benches|bench)(__)?/"
_THIS = frozenset({"this", "super"})
# Code that is only for C++, the second half of `long long`, and macros on lines of their own.
_C_BLANKS = (
    r"^#\s*ifdef __cplusplus\n(?:(?!#\s*(?:else|elif|if)).*\n)*?#\s*endif|(?<=long) +long\b|^[A-Z][A-Z0-9_]{3,}$"
)

LANGUAGES = {
    language.name: language
    for language in (
        Language(
            "python", "Python", (".py",), {"": ("tree_sitter_python", "language")},
            _FOLDERS + r"|/(test_[^/]*|[^/]*_test|conftest)\.py$",
            frozenset({"self", "cls", "super()"}),
            constructor="__init__", special=r"__\w+__", packaged=True,
        ),
        Language(
            "javascript", "JavaScript", (".js", ".mjs", ".cjs", ".jsx"),
            {"": ("tree_sitter_javascript", "language")},
            _FOLDERS + r"|[._-](test|spec)\.[mc]?jsx?$",
            constructor="constructor", structural=False, shared="script",
        ),
        Language(
            "typescript", "TypeScript", (".ts", ".tsx", ".mts", ".cts"),
            {".tsx": ("tree_sitter_typescript", "language_tsx"), "": ("tree_sitter_typescript", "language_typescript")},
            _FOLDERS + r"|[._-](test|spec|test-d|bench)\.[mc]?tsx?$|/runtime-tests/|/[^/]*-tests?/",
            _THIS, constructor="constructor", special=r"toString|toJSON|valueOf", shared="script",
        ),
        Language(
            "go", "Go", (".go",), {"": ("tree_sitter_go", "language")},
            r"_test\.go$|/testdata/", frozenset(),
            special=r"main|init|String|Error|Write|Read|Close|Len|Less|Swap|ServeHTTP|(Unm|M)arshal\w+", packaged=True,
        ),
        Language(
            "java", "Java", (".java",), {"": ("tree_sitter_java", "language")},
            _FOLDERS + r"|/src/[^/]*[tT]est[^/]*/|/[^/]*Tests?\.java$",
            _THIS, implicit_self=True,
            special=r"main|toString|equals|hashCode|compareTo|clone|finalize|close|run|call|get|accept|apply|iterator",
        ),
        Language(
            "rust", "Rust", (".rs",), {"": ("tree_sitter_rust", "language")},
            _FOLDERS + r"|/tests?\.rs$|_tests?\.rs$",
            structural=False,
        ),
        Language(
            "php", "PHP", (".php",), {"": ("tree_sitter_php", "language_php")},
            _FOLDERS + r"|Test\.php$",
            frozenset({"$this", "self", "static", "parent"}),
            constructor="__construct", special=r"__\w+",
        ),
        Language(
            "c", "C", (".c", ".h"), {"": ("tree_sitter_c", "language")},
            _FOLDERS + r"|/(test[^/]*|[^/]*[_-]test|[^/]*[_-]tests)\.[ch]$",
            frozenset(), special="main", blank=_C_BLANKS,
        ),
        Language(
            "csharp", "C#", (".cs",), {"": ("tree_sitter_c_sharp", "language")},
            _FOLDERS + r"|/[^/]*Tests?(\.[^/]*)?/|Tests?\.cs$|/[^/]*TestSupport/",
            frozenset({"this", "base"}), implicit_self=True,
            special="Main|ToString|Equals|GetHashCode|Dispose|GetEnumerator|MoveNext|Invoke",
        ),
    )
}  # fmt: skip


@cache
def _grammar(module: str, function: str) -> Grammar:
    return Grammar(getattr(importlib.import_module(module), function)())


@lru_cache(LATEST)
def _tree(module: str, function: str, text: bytes) -> Tree:
    return Parser(_grammar(module, function)).parse(text)


@cache
def _queries(name: str, shared: str, module: str, function: str) -> tuple[Query, Query]:
    texts = [(QUERIES / f"{one}.scm").read_text(encoding="utf-8") for one in (shared, name) if one]
    parts = zip(*(text.split(";; names\n") for text in texts), strict=True)
    definitions, names = (Query(_grammar(module, function), "".join(part)) for part in parts)
    return definitions, names

"""Read import and export statements: which name a file takes from which module, and what it calls it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

WHOLE, EVERYTHING, DEFAULT, EFFECT, OTHER = "", "*", "default", "!", "?"
"""Instead of a name: the module itself, all of its names, an ES module's default export, nothing, and
a use of a module that is not followed."""

ImportedName = tuple[str, str, str]
"""Module, name in it, local name."""


class Import(NamedTuple):
    """A name that a file takes from a module."""

    file: int
    module: str
    """As written: `..shop`, `./panel`, `github.com/pkg/errors`; "" for the file's own exports."""
    name: str
    local: str
    """What the file calls it, or exports it as; "" if it has no name of its own."""


def _python(statement: str) -> Iterator[ImportedName]:
    text = re.sub(r"#[^\n]*|[()\\]", " ", statement)
    if found := re.match(r"\s*from\s+(\.*)\s*([\w.]*)\s+import\s+(.*)", text, re.DOTALL):
        dots, module, names = found.groups()
        for part in names.split(","):
            if words := part.split():
                yield dots + module, words[0], "" if words[0] == EVERYTHING else words[-1]
    else:
        for part in text.strip().removeprefix("import").split(","):
            words = part.split()
            if len(words) == 3:
                yield words[0], WHOLE, words[2]
            elif words:
                # `import a.b` binds `a`, which is not the module that is named.
                yield words[0], OTHER if "." in words[0] else WHOLE, words[0].partition(".")[0]


_QUOTED = r"""['"`]([^'"`]*)['"`]"""
_LISTED = re.compile(r"(?:type\s+)?([\w$]+)(?:\s*(?:\bas\b|:)\s*([\w$]+))?")
_ES = re.compile(
    r"(?P<kind>import|export)\s+(?:type\s+)?(?:(?P<default>[\w$]+)\s*,?\s*)?(?:\*(?:\s*as\s+(?P<all>[\w$]+))?\s*)?"
    rf"(?:\{{(?P<names>[^}}]*)\}}\s*)?(?:from\s*{_QUOTED})?"
)
_CALLED = re.compile(rf"\b(?:require|import)\s*\(\s*{_QUOTED}")
_DEFAULT = re.compile(
    r"export\s+default\s+(?:(?:abstract\s+)?class\b|(?:async\s+)?function\b\s*\*?|interface\b)?\s*([\w$]+)\s*(.?)"
)
_WHOLE_EXPORT = re.compile(r"export\s*=\s*([\w$]+)")


def _script(statement: str) -> Iterator[ImportedName]:
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", statement, flags=re.DOTALL) if "/" in statement else statement
    if found := re.match(r"import\s+([\w$]+)\s*=\s*(?:require\s*\(\s*" + _QUOTED + ")?", text):
        yield found[2] or "", OTHER, found[1]
    elif (found := re.match(r"import\s*" + _QUOTED, text)) or (found := re.match(r"module\s*" + _QUOTED, text)):
        yield found[1], EFFECT, ""
    elif text.startswith("export default"):
        found = _DEFAULT.match(text)
        keyword = found and re.match(r"export\s+default\s+(class|abstract|async|function|interface)\b", text)
        if found and (keyword or found[2] in ("", ";")):
            yield "", found[1], DEFAULT
    elif found := _WHOLE_EXPORT.match(text):
        yield "", found[1], DEFAULT
    elif text.startswith(("import", "export")) and not re.match(r"import\s*\(", text):
        found = _ES.match(text)
        if found is None:
            return
        module, own = found[found.re.groups] or "", found["kind"] == "export"
        if found["default"] and found["default"] != "from":
            yield module, DEFAULT, found["default"]
        if found["all"]:
            yield module, WHOLE, found["all"]
        elif own and re.match(r"export\s+(type\s+)?\*", text):
            yield module, EVERYTHING, ""
        for name, local in _LISTED.findall(found["names"] or ""):
            yield module, name, local or name
        if module and found["names"] is not None and not found["names"].strip():
            yield module, EFFECT, ""
    elif found := _CALLED.search(text):
        yield found[1], OTHER, ""


def _go(statement: str) -> Iterator[ImportedName]:
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", statement, flags=re.DOTALL)
    for name, path in re.findall(r'(?:([\w.]+)\s+)?["`]([^"`]+)["`]', text):
        yield path, EVERYTHING if name == "." else WHOLE, "" if name in (".", "import") else name


def _java(statement: str) -> Iterator[ImportedName]:
    if found := re.match(r"import\s+(?:static\s+)?([\w.\s]+?)\s*\.\s*(\w+|\*)\s*;", statement):
        module = re.sub(r"\s", "", found[1])
        yield module, found[2], "" if found[2] == "*" else found[2]


def _csharp(statement: str) -> Iterator[ImportedName]:
    text = re.sub(r"\s+|<.*", " ", statement.replace("global::", "")).strip(" ;")
    words = re.sub(r"^(global )?using (static |unsafe )?", "", text).replace(" ", "")
    alias, equals, target = words.rpartition("=")
    if equals:
        module, _, name = target.rpartition(".")
        yield module, name, alias
    else:
        yield words, EVERYTHING, "global" if text.startswith("global ") else ""


def _php(statement: str) -> Iterator[ImportedName]:
    text = re.sub(r"\s+", " ", re.sub(r"^use\s+((function|const)\s+)?", "", statement)).strip(" ;")
    head, brace, group = text.partition("{")
    parts = group.rstrip("} ").split(",") if brace else text.split(",")
    for part in parts:
        words = (head.strip() + part.strip() if brace else part.strip()).split(" ")
        path = words[0].strip("\\")
        module, _, name = path.rpartition("\\")
        if name:
            yield module, name, words[-1] if len(words) == 3 else name


PARSERS: dict[str, Callable[[str], Iterator[ImportedName]]] = {
    "python": _python, "typescript": _script, "go": _go, "java": _java, "csharp": _csharp, "php": _php,
}  # fmt: skip
"""Language -> what yields the names that a statement takes from modules."""

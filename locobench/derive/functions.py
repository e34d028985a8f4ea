"""The functions of a file, and their code: what is compared to see which of them a commit changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from tree_sitter import Node

from locobench.derive.code.index import Index
from locobench.derive.code.rows import FUNCTIONS

# What the grammars call functions.
_CALLABLE = frozenset(
    """
lambda lambda_expression arrow_function closure_expression func_literal function_expression generator_function
anonymous_function anonymous_method_expression
function_definition function_declaration generator_function_declaration function_item method_definition
method_declaration constructor_declaration compact_constructor_declaration destructor_declaration
operator_declaration conversion_operator_declaration indexer_declaration event_declaration accessor_declaration
""".split()  # noqa: SIM905
)


class Token(NamedTuple):
    """A token of code."""

    row: int
    depth: int
    """The number of blocks around it: Python tells blocks by indentation alone."""
    text: bytes


class Version:
    """The functions of one version of a file."""

    def __init__(self, index: Index) -> None:
        """Take the functions of an index of one file."""
        self.index, self.path = index, index.files[0]
        self.functions = {
            symbol.qualified: [index.definitions[number] for number in symbol.definitions]
            for symbol in index.symbols
            if symbol.kind in FUNCTIONS
        }
        """Name -> its definitions; more than one where it is overloaded."""

    @property
    def root(self) -> Node:
        """The syntax tree."""
        return self.index.language.root(self.path, self.index.texts[0])

    def texts(self, name: str) -> Counter[bytes]:
        """Return the text of each definition of a function, with its decorators and the line that it begins in."""
        text, definitions = self.index.texts[0], self.functions.get(name, ())
        return Counter(text[max(text.rfind(b"\n", 0, one.outer_start), 0) : one.end] for one in definitions)

    def gone_from(self, text: bytes) -> int:
        """Return the number of functions whose text is not in another one."""
        return sum(any(own not in text for own in self.texts(name)) for name in self.functions)

    def code(self, name: str) -> list[list[Token]]:
        """Return the tokens of each definition of a function."""
        root = self.root
        return [[*tokens_of(root, one.outer_start, one.end)] for one in self.functions.get(name, ())]

    def nameless(self) -> Counter[tuple[object, ...]]:
        """Return the outermost functions that are no item, nor inside one: callbacks, members of an object."""
        named = [one for definitions in self.functions.values() for one in definitions]
        return _counted(
            tokens_of(node, node.start_byte, node.end_byte)
            for node in outermost(self.root)
            if not any(one.outer_start <= node.start_byte and node.end_byte <= one.end for one in named)
        )


def changed(before: Version, after: Version) -> dict[str, str]:
    """Return the functions whose code changed, each with the lines of code that only one version has."""
    found = {}
    for name in before.functions:
        # A further overload or variant is no change of those that were there.
        if before.texts(name) - after.texts(name):
            was, now = before.code(name), after.code(name)
            if _counted(was) - _counted(now):
                old, new = _lines(was), _lines(now)
                found[name] = "\n".join((old - new) + (new - old) or old)
    return found


def _counted(definitions: Iterable[Iterable[Token]]) -> Counter[tuple[object, ...]]:
    """Count definitions, wherever they stand in the file."""
    return Counter(tuple(token[1:] for token in tokens) for tokens in definitions)


def _lines(definitions: Iterable[Iterable[Token]]) -> Counter[str]:
    """Return the lines of code, without indentation."""
    rows = (row for tokens in definitions for _, row in groupby(tokens, key=lambda token: token.row))
    return Counter(b" ".join(token.text for token in row).decode("utf-8", "replace") for row in rows)


def outermost(root: Node) -> Iterator[Node]:
    """Yield the functions that are in no other one, without Rust's tests."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type in _CALLABLE:
            yield node
            continue
        is_test = False
        for child in node.children:
            if child.type == "attribute_item":
                is_test = is_test or b"test" in (child.text or b"")
            elif "comment" not in child.type:
                if not is_test:
                    waiting.append(child)
                is_test = False


def tokens_of(root: Node, start: int, end: int) -> Iterator[Token]:
    """Yield the tokens between two offsets; comments and docstrings are none."""
    waiting = [(0, root)]
    while waiting:
        depth, node = waiting.pop()
        if node.end_byte <= start or node.start_byte >= end or "comment" in node.type:
            continue
        if not node.child_count:
            text = node.text or b""
            # A macro's body is one token.
            text = b" ".join(text.replace(b"\\\n", b" ").split()) if node.type == "preproc_arg" else text
            yield Token(node.start_point[0], depth, text)
        block = node.type == "block"
        for child in reversed(node.children):
            if not (block and child.type == "expression_statement" and child.children[0].type == "string"):
                waiting.append((depth + block, child))

"""The functions of files, and their code: what is compared to see which of them a commit changed."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tree_sitter import Node

from locobench.derive.code.index import Index
from locobench.derive.code.rows import FUNCTIONS

END = b"\0"
"""What stands before the first line of a file, and behind the last."""
_FOLLOWING = re.compile(rb"\s*.*")
# Lines of comment, and strings that are statements.
_COMMENT = re.compile(r"""^[ \t]*(?:(?://|/\*|\*[ /]|\*$|\#[ ]|\#$).*|[rRuU]?(\"{3}|'{3})(?s:.*?)\1)""", re.MULTILINE)

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

Tokens = tuple[tuple[int, bytes], ...]


class Part(NamedTuple):
    """A definition of a function, with its decorators, and its text with the line above it and the next one below."""

    start: int
    end: int
    text: bytes
    around: bytes


def functions_of(indexes: Sequence[Index]) -> dict[tuple[str, str], list[Part]]:
    """Return the definitions of each function by path and name; more than one where it is overloaded.

    Args:
        indexes: of a file each.
    """
    found: dict[tuple[str, str], list[Part]] = defaultdict(list)
    for index in indexes:
        text = index.texts[0]
        whole = END + text + END
        for symbol in index.symbols:
            for one in (index.definitions[number] for number in symbol.definitions if symbol.kind in FUNCTIONS):
                start = one.outer_start
                after = _FOLLOWING.match(whole, one.end + 1)
                assert after
                # With the line above: a new decorator between would go unseen otherwise.
                above = max(whole.rfind(b"\n", 0, text.rfind(b"\n", 0, start) + 1), 0)
                around = whole[above : one.end + 1] + after[0]
                found[index.files[0], symbol.qualified].append(Part(start, one.end, text[start : one.end], around))
    return found


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


def tokens_of(root: Node, start: int, end: int) -> Iterator[tuple[int, bytes]]:
    """Yield the tokens between two offsets, each behind the number of blocks around it.

    Python tells blocks by indentation alone. Comments and docstrings are no tokens.
    """
    waiting = [(0, root)]
    while waiting:
        depth, node = waiting.pop()
        if node.end_byte <= start or node.start_byte >= end or "comment" in node.type:
            continue
        if not node.child_count:
            token = node.text or b""
            # A macro's body is one token.
            yield depth, b" ".join(token.replace(b"\\\n", b" ").split()) if node.type == "preproc_arg" else token
        block = node.type == "block"
        for child in reversed(node.children):
            if not (block and child.type == "expression_statement" and child.children[0].type == "string"):
                waiting.append((depth + block, child))


def changed_lines(before: Sequence[Part], after: Sequence[Part]) -> str:
    """Return the lines of code that only one version of a function has, or all if they only stand elsewhere."""
    old, new = _code(before), _code(after)
    return "\n".join((Counter(old) - Counter(new)) + (Counter(new) - Counter(old))) or "\n".join(old)


def _code(parts: Sequence[Part]) -> list[str]:
    """Return lines of code, without indentation, comments and docstrings."""
    text = _COMMENT.sub("", b"\n".join(part.text for part in parts).decode("utf-8", "replace"))
    return [line.strip() for line in text.splitlines()]

"""Read one file's definitions and mentions from its syntax tree into the index's columns."""

from __future__ import annotations

import re

from tree_sitter import Node, QueryCursor

from locobench.derive.code.imports import PARSERS, Import
from locobench.derive.code.index import Index
from locobench.derive.code.rows import FUNCTIONS, Definition, Receiver, Role

_LONGEST_IMPORT = 20_000
"""Bytes of an import statement that are read; a longer one is a default export with its whole body."""
# Matched backwards from the mention: `.`, `?.`, `->`, `::` or `\`, then `()`, then a name.
_RECEIVER = re.compile(rb"\s*(?:\.\??|>-|::|\\)\s*(\)\()?([\w$]*[A-Za-z_$])?")
_MEMBER_BYTES = frozenset(b".>:\\")
_ATTRIBUTES = ("attribute_item", "decorator")
_AROUND = ("lexical_declaration", "variable_declaration", "export_statement")
_ACCESS = re.compile(rb"(?:^|[^.])\.$|->$|::$|\\$")
"""The last two bytes before a member's name: no range (`..`), no comparison and no label."""


class Reader:
    """Reads one file."""

    def __init__(self, index: Index, path: str, text: bytes, root: Node) -> None:
        self.index, self.path, self.text, self.root = index, path, text, root
        self.number = len(index.files)
        index.files.append(path)
        index.texts.append(text)
        index.by_file.append([])

    def read(self, *, mentions: bool) -> None:
        """Store what the file defines and mentions."""
        definitions, names = self.index.language.queries(self.path)
        matches = QueryCursor(definitions).matches(self.root)
        captured = QueryCursor(names).captures(self.root) if mentions else {}
        for _, match in matches:
            if "name" not in match:
                for capture, nodes in match.items():
                    captured.setdefault(capture, []).extend(nodes)
        paint = self._paint(captured)
        own = self._definitions(matches, captured, paint)
        if mentions:
            self._mentions(captured, paint, own)

    def _paint(self, captured: dict[str, list[Node]]) -> bytearray:
        """Return the role of a mention at each byte, as far as the surrounding code determines it."""
        paint = bytearray([Role.REFERENCE]) * len(self.text)
        for capture, role in (("akin", Role.AKIN), ("plain", Role.REFERENCE), ("import", Role.IMPORT)):
            for node in captured.get(capture, ()):
                _cover(paint, node, node, role)
        variants = (node for node in captured.get("variant", ()) if not self._is_guard(node))
        for node in (*captured.get("unclear", ()), *variants):
            _cover(paint, node, node, Role.UNCLEAR)
        for node in captured.get("opaque", ()):
            self.index.muddy(self.text[node.start_byte : node.end_byte])
        for node in captured.get("source", ()):
            found = PARSERS[self.index.language.name](self._text_of(node, most=_LONGEST_IMPORT))
            self.index.imports += [Import(self.number, *one) for one in found]
        for node in captured.get("testmark", ()):
            owner = node.next_named_sibling
            while owner is not None and owner.type in ("attribute_item", "line_comment", "block_comment"):
                owner = owner.next_named_sibling
            if owner is not None:
                _cover(paint, node, owner, Role.IGNORED)
        return paint

    def _is_guard(self, node: Node) -> bool:
        """Return whether an #if is a header's include guard, or code that is only for C++."""
        head, _, rest = self.text[node.start_byte : node.start_byte + 400].partition(b"\n")
        name = head.split()[1:2]
        return b"__cplusplus" in head or (
            head.startswith(b"#ifndef")
            and bool(name)
            and rest.split()[:2] == [b"#define", name[0]]
            and not self.text[node.end_byte :].strip()
        )

    def _definitions(
        self, matches: list[tuple[int, dict[str, list[Node]]]], captured: dict[str, list[Node]], paint: bytearray
    ) -> list[int]:
        """Store the file's definitions; return their numbers, ordered by start."""
        found: dict[int, Definition] = {}
        for _, match in matches:
            if "name" not in match:
                continue
            name = match["name"][0]
            kind = next(kind for kind in match if kind not in ("name", "owner"))
            node = match[kind][0]
            if paint[name.start_byte] == Role.IGNORED:
                continue
            other = found.get(name.start_byte)
            if other and other.kind == kind and other.end - other.start >= node.end_byte - node.start_byte:
                continue
            owner = self._text_of(match["owner"][0]).rpartition(".")[2] if "owner" in match else ""
            if owner == "prototype":
                owner = self._text_of(match["owner"][0]).split(".")[-2]
            found[name.start_byte] = Definition(
                kind, self._text_of(name), self.number, node.start_byte, node.end_byte, name.start_byte,
                _outer_start(node), "" if owner in ("exports", "module") else owner,
            )  # fmt: skip
        starts = {(start, one.end) for one in found.values() for start in (one.start, one.name_start)}
        extra = [node for node in captured.get("nested", ()) if (node.start_byte, node.end_byte) not in starts]
        ends = {one.end for one in found.values() if one.kind in FUNCTIONS}
        extra += [node for node in captured.get("callable", ()) if node.end_byte not in ends]
        nested = [Definition("nested", "", self.number, *node.byte_range, -1, node.start_byte) for node in extra]
        ordered = sorted([*found.values(), *nested], key=lambda one: (one.start, -one.end, one.name_start))
        own = []
        stack: list[int] = []
        for one in ordered:
            while stack and self.index.definitions[stack[-1]].end <= one.start:
                stack.pop()
            one.parent = stack[-1] if stack else -1
            number = len(self.index.definitions)
            self.index.definitions.append(one)
            own.append(number)
            if one.kind != "constant":
                stack.append(number)
        self.index.by_file[self.number] = [n for n in own if self.index.definitions[n].kind != "constant"]
        for node in captured.get("self", ()):
            inner = self.index.innermost(self.number, node.start_byte)
            if inner >= 0:
                self.index.definitions[inner].own_self = self._text_of(node)
        self._bases(captured)
        self.index.spaces.append(frozenset(self._text_of(node) for node in captured.get("namespace", ())))
        return own

    def _bases(self, captured: dict[str, list[Node]]) -> None:
        """Keep the supertypes that a definition names in its own header; any other is only AKIN."""
        certain = []
        for node in captured.get("base", ()):
            inner = self.index.innermost(self.number, node.start_byte)
            if inner >= 0 and _heads(node, self.index.definitions[inner].name_start):
                self.index.definitions[inner].bases.append(self._text_of(node))
                certain.append(node)
        captured["base"] = certain

    def _mentions(self, captured: dict[str, list[Node]], paint: bytearray, own: list[int]) -> None:
        index, text, definitions = self.index, self.text, self.index.definitions
        roles = {node.start_byte: role for capture, role in _CAPTURED for node in captured.get(capture, ())}
        for number in own:
            if definitions[number].kind != "nested":
                roles[definitions[number].name_start] = Role.DEFINITION
        known: dict[bytes, int] = {}
        rows: list[tuple[int, int, int, int, int]] = []
        for start, end in sorted({node.byte_range for node in captured.get("id", ())}):
            painted = paint[start]
            role = painted if painted in (Role.UNCLEAR, Role.IMPORT, Role.IGNORED) else roles.get(start, painted)
            if role == Role.IGNORED:
                continue
            word = text[start:end]
            if word not in known:
                known[word] = index.name_id(word.decode("utf-8", "replace"))
            scope = index.innermost(self.number, start)
            rows.append((known[word], start, role, self._receiver(start, scope), scope))
        index.add(self.number, rows)

    def _receiver(self, start: int, scope: int) -> int:
        near = self.text[max(0, start - 2) : start].rstrip()
        if near and near[-1] not in _MEMBER_BYTES:
            return Receiver.NONE
        head = _code(self.text[max(0, start - 400) : start])
        if not _ACCESS.search(head[-2:]):
            return Receiver.NONE
        found = _RECEIVER.match(head[::-1])
        assert found
        called, name = found.groups()
        if name is None:
            # `::name` and `\name` start at the root namespace. The receiver of `).name` and `].name` is unknown.
            rooted = head.endswith((b"::", b"\\")) and not head[:-2].rstrip().endswith((b">", b")"))
            return Receiver.NONE if rooted else Receiver.COMPLEX
        word = name[::-1].decode("utf-8", "replace") + ("()" if called else "")
        # For `a.b.name`, the last name `b` alone could be mistaken for something else.
        around = _code(head[: -found.end()])
        arrow = self.index.language.name in ("c", "php") and around.endswith(b"->")
        if arrow or (around.endswith(b".") and not around.endswith(b"..")):
            return Receiver.COMPLEX
        if word in self.index.language.selves or any(one.own_self == word for one in self.index.around(scope)):
            return Receiver.ITSELF
        return Receiver.COMPLEX if called else Receiver.FIRST_NAME + self.index.name_id(word)

    def _text_of(self, node: Node, *, most: int | None = None) -> str:
        end = node.end_byte if most is None else min(node.end_byte, node.start_byte + most)
        return self.text[node.start_byte : end].decode("utf-8", "replace")


_CAPTURED = (
    ("base", Role.BASE), ("key", Role.KEY), ("bind", Role.BINDING), ("declare", Role.DECLARATION),
    ("unclear", Role.UNCLEAR), ("variable", Role.IGNORED), ("field", Role.IGNORED),
)  # fmt: skip


def _cover(paint: bytearray, first: Node, last: Node, role: int) -> None:
    paint[first.start_byte : last.end_byte] = bytes([role]) * (last.end_byte - first.start_byte)


def _outer_start(node: Node) -> int:
    """Return where a definition begins with its decorators or attributes, and modifiers such as `export const`."""
    while (parent := node.parent) and parent.type in _AROUND:
        if next(child for child in parent.named_children if child.type != "decorator") != node:
            break
        node = parent
    start, above = node.start_byte, node.prev_named_sibling
    while above and (above.type in _ATTRIBUTES or "comment" in above.type):
        start = above.start_byte if above.type in _ATTRIBUTES else start
        above = above.prev_named_sibling
    return start


def _heads(base: Node, name_start: int) -> bool:
    """Return whether a supertype stands in the header of the definition whose name starts there."""
    one: Node | None = base
    while one is not None:
        if one.type == "use_declaration":  # PHP's traits are used in the body
            one = one.parent
        elif one.type.endswith("body") or "block" in one.type or one.type == "declaration_list":
            return False
        one = one and one.parent
        head = one and (one.child_by_field_name("name") or one.child_by_field_name("type"))
        if head is not None and head.start_byte == name_start:
            return True
    return False


def _code(head: bytes) -> bytes:
    """Return text without the blanks and the lines of comment at its end."""
    head = head.rstrip()
    while (line := head[head.rfind(b"\n") + 1 :].lstrip()).startswith((b"# ", b"//")):
        head = head[: -len(line)].rstrip()
    return head

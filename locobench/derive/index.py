"""Where is each name defined and mentioned? One pass over a language's files, in columns of numbers.

What a mention means is not decided here (`strict`, `scip`): only where it stands, in whose text, and behind which receiver.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tree_sitter import Node, QueryCursor

from locobench.derive.languages import Language

# What a mention is.
IGNORED, REFERENCE, DEFINITION, DECLARATION, BINDING, KEY, IMPORT, UNCLEAR, ALIASED, FOREIGN = range(10)
# What stands before it.
NO_RECEIVER, ITSELF, COMPLEX, FIRST_NAME = 0, 1, 2, 3
# In whose text it stands, where that is no item.
TOP_LEVEL, NOWHERE = -1, -2
# Grammars nest deeper than any program that people wrote; what is deeper is generated.
_WORD = re.compile(rb"[A-Za-z_$][A-Za-z0-9_$]*")
_RECEIVER = re.compile(rb"([A-Za-z_$][\w$]*)?(\(\))?\s*(?:\?\.|\.|->|::|\\)\s*$")
_AFTER_ALIAS = re.compile(rb"\s+as\b|\s*=[^=>]")
_BEFORE_ALIAS = re.compile(rb"\bas\s+$")
_MEMBER_BYTES = frozenset(b".>:\\")
_SPACES = frozenset(b" \n\t\r")

FUNCTIONS = frozenset({"function", "method", "constructor"})
TYPES = frozenset({"class", "type"})


@dataclass(slots=True)
class Definition:
    """Something with a name, in one file; overloads and variants of one name are one definition each."""

    kind: str
    """function, method, constructor, class, type, constant, container or nested."""
    name: str
    file: int
    start: int
    end: int
    """Bytes of the whole text: decorators, signature and body."""
    name_start: int
    owner: str = ""
    """Class by a receiver's type or a qualified name."""
    own_self: str = ""
    """What the method calls its receiver."""
    parent: int = -1
    """The definition around it, by number."""
    qualified: str = ""
    """`Class.name`: how an answer calls it."""
    symbol: int = -1
    """Number of the symbol that it defines; -1 for what is no item."""
    bases: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Symbol:
    """An item that a question can be about or be answered with: all definitions of one qualified name in a file."""

    kind: str
    name: str
    file: int
    qualified: str
    definitions: list[int]
    owner: int = -1
    """The symbol of the class around it."""
    bases: list[str] = field(default_factory=list)


@dataclass
class Index:
    """The mentions of names in the files of one language."""

    language: Language
    files: list[str] = field(default_factory=list)
    texts: list[bytes] = field(default_factory=list)
    definitions: list[Definition] = field(default_factory=list)
    symbols: list[Symbol] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    name_ids: dict[str, int] = field(default_factory=dict)
    murky: set[str] = field(default_factory=set)
    """Names that stand where nobody can tell what they mean: broken files, macro bodies, variants by #if."""
    namespaces: set[str] = field(default_factory=set)
    places: set[str] = field(default_factory=set)
    """Parts of paths and of namespaces: what a name of this repository can be qualified with."""
    sources: list[tuple[int, str]] = field(default_factory=list)
    """File and text of what it imports: Python's statements, JavaScript's quoted modules."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Files that are no part of questions, by reason."""
    # Columns, a row a mention.
    name: array[int] = field(default_factory=lambda: array("I"))
    file: array[int] = field(default_factory=lambda: array("I"))
    start: array[int] = field(default_factory=lambda: array("I"))
    role: array[int] = field(default_factory=lambda: array("B"))
    receiver: array[int] = field(default_factory=lambda: array("I"))
    scope: array[int] = field(default_factory=lambda: array("i"))
    """Innermost definition around it, by number; TOP_LEVEL, NOWHERE."""
    rows: dict[int, list[int]] = field(default_factory=dict)
    """Name to its mentions, of names that are defined here."""

    def name_id(self, name: str) -> int:
        """Return the number of a name, a new one for a new name."""
        if name not in self.name_ids:
            self.name_ids[name] = len(self.names)
            self.names.append(name)
        return self.name_ids[name]

    def mentions(self, name: str) -> list[int]:
        """Return the rows of a name's mentions."""
        return self.rows.get(self.name_ids.get(name, -1), [])

    def line(self, file: int, offset: int) -> int:
        """Return the line, from 1."""
        return self.texts[file].count(b"\n", 0, offset) + 1

    def item_at(self, file: int, offset: int) -> int | None:
        """Return the symbol in whose text an offset stands; TOP_LEVEL, or None where nobody can tell."""
        return self.item_of(self._innermost(file, offset))

    def item_of(self, definition: int) -> int | None:
        """Return the item that a definition's text counts to: the outermost function, else the innermost class."""
        if definition == NOWHERE:
            return None
        found = TOP_LEVEL
        chain = []
        while definition >= 0:
            chain.append(definition)
            definition = self.definitions[definition].parent
        for number in reversed(chain):
            one = self.definitions[number]
            if one.kind in FUNCTIONS:
                return one.symbol if one.symbol >= 0 else None
            if one.kind in TYPES or one.kind == "container":
                found = one.symbol
            elif one.kind == "nested":
                found = NOWHERE
        return None if found == NOWHERE else found

    def _innermost(self, file: int, offset: int) -> int:
        numbers = self.by_file[file]
        at = bisect_right(numbers, offset, key=lambda number: self.definitions[number].start) - 1
        number = numbers[at] if at >= 0 else -1
        while number >= 0 and self.definitions[number].end <= offset:
            number = self.definitions[number].parent
        return number

    by_file: list[list[int]] = field(default_factory=list)
    """The definitions of each file, by number, in the order of their starts."""

    def items_in(self, file: int) -> list[int]:
        """Return the symbols that a file defines."""
        return self._items[file]

    _items: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))


def build(
    language: Language, files: Iterable[tuple[str, bytes]], *, with_tests: bool = False, mentions: bool = True
) -> Index:
    """Read a language's files.

    Args:
        files: paths and contents, sorted by path; tests and generated files left out.
        with_tests: read tests inside the files, too (Rust's `#[cfg(test)]`).
        mentions: False for who only asks what is defined where.
    """
    index = Index(language)
    for path, text in files:
        tree = language.parser(path).parse(language.readable(text))
        if tree.root_node.has_error:
            fenced = text.lstrip().startswith(b"```")
            index.left_out["wrapped in a Markdown fence" if fenced else "with parse errors"] += 1
            index.murky.update(word.decode("ascii") for word in set(_WORD.findall(text)))
            index.places.update(_places(path))
            continue
        reader = _Reader(index, path, text, tree.root_node, with_tests=with_tests)
        reader.read(mentions=mentions)
    _finish(index)
    return index


def _places(path: str) -> Iterator[str]:
    parts = path.split("/")
    yield from parts[:-1]
    yield parts[-1].partition(".")[0]
    # A crate or package may be called otherwise than its folder.
    yield from (part.replace("-", "_") for part in parts[:-1])


class _Reader:
    """Reads one file."""

    def __init__(self, index: Index, path: str, text: bytes, root: Node, *, with_tests: bool) -> None:
        self.index, self.path, self.text, self.root = index, path, text, root
        self.with_tests = with_tests
        self.number = len(index.files)
        index.files.append(path)
        index.texts.append(text)
        index.places.update(_places(path))
        index.by_file.append([])

    def read(self, *, mentions: bool) -> None:
        """Store what the file defines and mentions."""
        definitions, names = self.index.language.queries(self.path)
        captured = QueryCursor(names).captures(self.root)
        paint = self._paint(captured)
        own = self._definitions(QueryCursor(definitions).matches(self.root), captured, paint)
        if mentions:
            self._mentions(captured, paint, own)

    def _paint(self, captured: dict[str, list[Node]]) -> bytearray:
        """Return what every byte's mentions are, where that does not hang on the mention itself."""
        paint = bytearray([REFERENCE]) * len(self.text)
        foreign = bytes([FOREIGN])
        for node in captured.get("import", ()):
            start, end = node.start_byte, node.end_byte
            inside = is_internal(self.index.language.name, self.text[start:end])
            paint[start:end] = (bytes([IMPORT]) if inside else foreign) * (end - start)
        for node in captured.get("unclear", ()):
            paint[node.start_byte : node.end_byte] = bytes([UNCLEAR]) * (node.end_byte - node.start_byte)
        for node in captured.get("variant", ()):
            if not self._is_guard(node):
                paint[node.start_byte : node.end_byte] = bytes([UNCLEAR]) * (node.end_byte - node.start_byte)
        for node in captured.get("opaque", ()):
            words = set(_WORD.findall(self.text[node.start_byte : node.end_byte]))
            self.index.murky.update(word.decode("ascii") for word in words)
        self.index.sources += [(self.number, self._text_of(node)) for node in captured.get("source", ())]
        self._paint_rust_attributes(captured, paint)
        return paint

    def _paint_rust_attributes(self, captured: dict[str, list[Node]], paint: bytearray) -> None:
        tests = {node.start_byte for node in captured.get("testmark", ())}
        for node in (*captured.get("testmark", ()), *captured.get("cfgmark", ())):
            owner = node.next_named_sibling
            while owner is not None and owner.type in ("attribute_item", "line_comment", "block_comment"):
                owner = owner.next_named_sibling
            if owner is not None:
                is_test = node.start_byte in tests and b"not(test" not in self.text[node.start_byte : node.end_byte]
                role = IGNORED if is_test and not self.with_tests else REFERENCE if is_test else UNCLEAR
                paint[node.start_byte : owner.end_byte] = bytes([role]) * (owner.end_byte - node.start_byte)

    def _is_guard(self, node: Node) -> bool:
        """Whether it is the guard around a whole header, or what C++ alone sees."""
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
        """Store the file's definitions; return their numbers in the order of their starts."""
        found: dict[int, Definition] = {}
        for _, match in matches:
            if "name" not in match:
                continue
            name = match["name"][0]
            kind = next(kind for kind in match if kind not in ("name", "owner"))
            node = match[kind][0]
            key = name.start_byte if kind != "container" else -1 - node.start_byte
            if paint[name.start_byte] == IGNORED:
                continue
            other = found.get(key)
            if other and (other.kind != kind and kind == "constant"):
                continue
            if other and other.kind == kind and other.end - other.start >= node.end_byte - node.start_byte:
                continue
            owner = self._text_of(match["owner"][0]).rpartition(".")[2] if "owner" in match else ""
            if owner == "prototype":
                owner = self._text_of(match["owner"][0]).split(".")[-2]
            found[key] = Definition(
                kind, self._text_of(name), self.number, node.start_byte, node.end_byte, name.start_byte,
                "" if owner in ("exports", "module") else owner,
            )  # fmt: skip
        starts = {(one.start, one.end) for one in found.values()} | {
            (one.name_start, one.end) for one in found.values()
        }
        extra = [node for node in captured.get("nested", ()) if (node.start_byte, node.end_byte) not in starts]
        ends = {one.end for one in found.values() if one.kind in FUNCTIONS}
        extra += [node for node in captured.get("callable", ()) if node.end_byte not in ends]
        nested = [Definition("nested", "", self.number, node.start_byte, node.end_byte, -1) for node in extra]
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
            inner = self.index._innermost(self.number, node.start_byte)
            if inner >= 0:
                self.index.definitions[inner].own_self = self._text_of(node)
        for node in captured.get("base", ()):
            inner = self.index._innermost(self.number, node.start_byte)
            if inner >= 0:
                self.index.definitions[inner].bases.append(self._text_of(node))
        for node in captured.get("namespace", ()):
            text = self._text_of(node)
            self.index.namespaces.update((text, text.replace("\\", "."), *re.findall(r"\w+", text)))
        return own

    def _mentions(self, captured: dict[str, list[Node]], paint: bytearray, own: list[int]) -> None:
        index, text, definitions = self.index, self.text, self.index.definitions
        roles = {node.start_byte: role for capture, role in _CAPTURED for node in captured.get(capture, ())}
        for number in own:
            if definitions[number].kind not in ("nested", "container"):
                roles[definitions[number].name_start] = DEFINITION
        scopes = index.by_file[self.number]
        at, stack = 0, [TOP_LEVEL]
        seen = -1
        for node in sorted(captured.get("id", ()), key=lambda node: node.start_byte):
            start = node.start_byte
            painted = paint[start]
            if painted == IGNORED or start == seen:
                continue
            seen = start
            while at < len(scopes) and definitions[scopes[at]].start <= start:
                while stack[-1] >= 0 and definitions[stack[-1]].end <= definitions[scopes[at]].start:
                    stack.pop()
                stack.append(scopes[at])
                at += 1
            while stack[-1] >= 0 and definitions[stack[-1]].end <= start:
                stack.pop()
            end = node.end_byte
            role = roles.get(start, painted) if painted != UNCLEAR else UNCLEAR
            if painted == UNCLEAR and roles.get(start) == DEFINITION:
                role = UNCLEAR
            if painted in (IMPORT, FOREIGN):
                role = ALIASED if self._is_aliased(start, end) else painted
            index.name.append(index.name_id(text[start:end].decode("utf-8", "replace")))
            index.file.append(self.number)
            index.start.append(start)
            index.role.append(role)
            index.receiver.append(self._receiver(start, stack[-1]))
            index.scope.append(stack[-1])

    def _is_aliased(self, start: int, end: int) -> bool:
        return bool(
            _AFTER_ALIAS.match(self.text, end, end + 12) or _BEFORE_ALIAS.search(self.text[max(0, start - 12) : start])
        )

    def _receiver(self, start: int, scope: int) -> int:
        text = self.text
        before = text[start - 1] if start else 0
        if before in _SPACES:
            head = text[max(0, start - 120) : start].rstrip()
            if not head or head[-1] not in _MEMBER_BYTES:
                return NO_RECEIVER
        elif before not in _MEMBER_BYTES:
            return NO_RECEIVER
        else:
            head = text[max(0, start - 120) : start]
        if head.endswith(b"..") or (head.endswith(b">") and not head.endswith(b"->")):
            return NO_RECEIVER
        if head.endswith(b":") and not head.endswith(b"::"):
            return NO_RECEIVER
        found = _RECEIVER.search(head)
        if found is None:
            return COMPLEX
        if found[1] is None:
            # `::name` and `\name`: from the root of all names. `).name`, `].name`: who knows.
            rooted = head.endswith((b"::", b"\\")) and not head[:-2].rstrip().endswith((b">", b")"))
            return NO_RECEIVER if rooted else COMPLEX
        if found[2]:
            return ITSELF if found[1] == b"super" else COMPLEX
        word = found[1].decode("utf-8", "replace").removeprefix("$")
        # `a.b.name`: the last name alone would be taken for something that it is not.
        around = head[: found.start()].rstrip()
        if word in ("super", "base", "parent"):
            return ITSELF
        if around.endswith((b".", b"->")) and not around.endswith(b".."):
            return COMPLEX
        if word in self.index.language.selves or self._is_own_self(word, scope):
            return ITSELF
        return FIRST_NAME + self.index.name_id(word)

    def _is_own_self(self, word: str, scope: int) -> bool:
        while scope >= 0:
            if self.index.definitions[scope].own_self == word:
                return True
            scope = self.index.definitions[scope].parent
        return False

    def _text_of(self, node: Node) -> str:
        return self.text[node.start_byte : node.end_byte].decode("utf-8", "replace")


_CAPTURED = (
    ("key", KEY), ("bind", BINDING), ("declare", DECLARATION), ("unclear", UNCLEAR), ("variable", IGNORED),
    ("field", IGNORED),
)  # fmt: skip


def is_internal(language: str, statement: bytes) -> bool:
    """Whether an import can be of this repository by the look of it; `strict` knows the repository's names."""
    if language in ("javascript", "typescript"):
        quoted = re.findall(rb"""from\s*['"]([^'"]+)['"]|require\(\s*['"]([^'"]+)['"]""", statement)
        return not quoted or any((a or b).startswith((b".", b"@/", b"~/", b"#")) for a, b in quoted)
    return True


def _finish(index: Index) -> None:
    """Name the definitions, join them to symbols, and list the mentions of names that are defined here."""
    index.places |= index.namespaces
    by_name: dict[tuple[int, str], int] = {}
    for number, one in enumerate(index.definitions):
        parents = []
        parent = one.parent
        is_item = one.kind != "nested"
        while parent >= 0:
            around = index.definitions[parent]
            if around.kind in ("class", "type", "container"):
                parents.append(around.name)
            else:
                is_item = False
            parent = around.parent
        if not is_item:
            continue
        owner = "" if one.owner in index.namespaces else one.owner
        if one.kind == "function" and (parents or owner):
            one.kind = "method"
        if parents and one.name == parents[0] and one.kind == "method":
            one.kind = "constructor"
        if owner and owner == one.name and one.kind == "method":
            one.kind = "constructor"
        if one.name == index.language.constructor and one.kind == "method":
            one.kind = "constructor"
        one.qualified = ".".join([*reversed(parents), *([owner] if owner else []), one.name])
        key = (one.file, one.qualified)
        if key not in by_name:
            by_name[key] = len(index.symbols)
            index.symbols.append(Symbol(one.kind, one.name, one.file, one.qualified, []))
            index._items[one.file].append(by_name[key])
        one.symbol = by_name[key]
        symbol = index.symbols[one.symbol]
        symbol.definitions.append(number)
        # A Rust type and its impl blocks are one item.
        if symbol.kind == "container":
            symbol.kind = one.kind
        elif symbol.kind != one.kind and one.kind != "container":
            symbol.kind = "mixed"
    for symbol in index.symbols:
        symbol.owner = by_name.get((symbol.file, symbol.qualified.rpartition(".")[0]), -1)
        for number in symbol.definitions:
            symbol.bases += index.definitions[number].bases
    defined = {index.name_ids[symbol.name] for symbol in index.symbols if symbol.name in index.name_ids}
    rows: dict[int, list[int]] = {name: [] for name in defined}
    for row, name in enumerate(index.name):
        if name in rows:
            rows[name].append(row)
    index.rows = rows

"""Resolve uses with a SCIP index: a compiler has resolved the names, tree-sitter finds the enclosing functions.

The format is https://github.com/sourcegraph/scip (scip.proto); _FIELDS lists the fields read here. Few indexers record
which definition encloses a mention, so our own index provides that.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

from locobench.derive.code.index import Index
from locobench.derive.code.rows import TYPES, Receiver, Role
from locobench.derive.resolve.resolver import Item, Unclear, user
from locobench.shared.errors import InputError

IS_DEFINITION = 1
"""A bit in `symbol_roles`."""
_UNRESOLVED = "unresolved"
"""A local symbol without a definition: an import that the indexer cannot find, or `{name}` in TypeScript."""
_UTF8 = 1
"""A document's `position_encoding` whose columns count bytes."""

_FIELDS: dict[str, dict[str, tuple[int, str]]] = {
    "Index": {"documents": (2, "Document*")},
    "Document": {
        "relative_path": (1, "string"), "occurrences": (2, "Occurrence*"), "symbols": (3, "SymbolInformation*"),
        "position_encoding": (6, "int32"),
    },
    "Occurrence": {"range": (1, "int32*"), "symbol": (2, "string"), "symbol_roles": (3, "int32")},
    "SymbolInformation": {"symbol": (1, "string"), "relationships": (4, "Relationship*")},
    "Relationship": {"symbol": (1, "string"), "is_implementation": (3, "bool")},
}  # fmt: skip


@cache
def _index_message() -> Any:
    """Return the message class of an index with the fields in _FIELDS."""
    field = descriptor_pb2.FieldDescriptorProto
    types = {"string": field.TYPE_STRING, "int32": field.TYPE_INT32, "bool": field.TYPE_BOOL}
    file = descriptor_pb2.FileDescriptorProto(name="scip.proto", package="scip", syntax="proto3")
    for message, fields in _FIELDS.items():
        described = file.message_type.add(name=message)
        for name, (number, kind) in fields.items():
            plain = kind.removesuffix("*")
            one = described.field.add(name=name, number=number, type=types.get(plain, field.TYPE_MESSAGE))
            one.label = field.LABEL_REPEATED if kind.endswith("*") else field.LABEL_OPTIONAL
            if plain not in types:
                one.type_name = f".scip.{plain}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("scip.Index"))


def read_index(path: Path, index: Index) -> Scip:
    """Read the SCIP index of the same commit as `index`.

    Raises:
        InputError: it is not a SCIP index, or has none of the files in `index`.
    """
    try:
        message = _index_message().FromString(path.read_bytes())
    except DecodeError:
        raise InputError("its index cannot be used: not a SCIP index, or a part of one") from None
    files = set(index.files)
    if not any(document.relative_path in files for document in message.documents):
        raise InputError("its index cannot be used: it has none of the files")
    return Scip(message, index)


class Scip:
    """Resolves uses in a language's files with a SCIP index."""

    tier = "scip"

    def __init__(self, message: Any, index: Index) -> None:
        self.index = index
        rows = {(index.file[row], index.start[row]): row for row in range(len(index.name))}
        self._meant: dict[int, set[str]] = defaultdict(set)
        """Row -> the SCIP symbols at that mention."""
        self._uses: dict[str, list[int]] = defaultdict(list)
        self._names: dict[int, set[str]] = defaultdict(set)
        """Our symbol -> the SCIP symbols."""
        self._own: dict[str, int] = {}
        self._subtypes: dict[str, set[str]] = defaultdict(set)
        self._defined: set[str] = set()
        """The SCIP symbols defined anywhere in the repository."""
        numbers = {name: number for number, name in enumerate(index.files)}
        items = {(one.file, one.name_start): one.symbol for one in index.definitions if one.symbol >= 0}
        for document in message.documents:
            defined = {one.symbol for one in document.occurrences if one.symbol_roles & IS_DEFINITION}
            self._defined |= defined
            number = numbers.get(document.relative_path)
            if number is None:
                continue
            lines = index.texts[number].split(b"\n")
            starts = [*accumulate((len(line) + 1 for line in lines), initial=0)]
            for one in document.occurrences:
                line, column = one.range[:2]
                place = number, starts[line] + _bytes_before(lines[line], column, document.position_encoding)
                row = rows.get(place)
                if row is None:
                    continue
                if not one.symbol or one.symbol.startswith("local "):
                    self._meant[row].add("local" if one.symbol in defined else _UNRESOLVED)
                    continue
                self._meant[row].add(one.symbol)
                if not one.symbol_roles & IS_DEFINITION:
                    self._uses[one.symbol].append(row)
                elif place in items:
                    self._names[items[place]].add(one.symbol)
                    self._own[one.symbol] = items[place]
            for information in document.symbols:
                for related in information.relationships:
                    if related.is_implementation:
                        self._subtypes[related.symbol].add(information.symbol)
        told = {document.relative_path for document in message.documents if document.occurrences}
        silent = {number for path, number in numbers.items() if path not in told}
        self._murky = index.murky | {
            index.names[name] for name, file in zip(index.name, index.file, strict=True) if file in silent
        }
        self._packages = {_package(symbol) for symbol in self._own}
        self._constructors(index)

    def _constructors(self, index: Index) -> None:
        """Count uses of a constructor as uses of its class."""
        for number, symbol in enumerate(index.symbols):
            if symbol.kind == "class":
                for name in list(self._names[number]):
                    for suffix in ("`<constructor>`().", "__init__().", "constructor()."):
                        if name.endswith("#") and name + suffix in self._uses:
                            self._names[number].add(name + suffix)

    def users(self, symbol: int) -> frozenset[Item]:
        """Return the users of a symbol.

        Raises:
            Unclear: the SCIP index does not explain every mention of its name.
        """
        index, one = self.index, self.index.symbols[symbol]
        if not self._names[symbol]:
            raise Unclear("not in the index")
        if one.kind in ("mixed", "constructor"):
            raise Unclear("a constructor, or of two kinds")
        if self._is_murky(symbol):
            raise Unclear("named in a broken file or a macro, or in a file that the index lacks")
        if index.language.is_special(one.name):
            raise Unclear("used without being named")
        for row in index.mentions(one.name):
            self._check(row, is_method=one.kind == "method")
        found: set[Item] = set()
        for name in self._names[symbol]:
            for row in self._uses[name]:
                if index.role[row] in (Role.IMPORT, Role.DEFINITION, Role.DECLARATION):
                    continue
                if index.role[row] in (Role.BINDING, Role.KEY):
                    raise Unclear("taken out of an object by a pattern")
                if one.kind in TYPES and index.names[index.name[row]] == index.language.constructor:
                    continue  # `super().__init__` does not name the class
                found |= user(index, row, symbol)
        return frozenset(found)

    def _is_subtype_unnamed(self, row: int) -> bool:
        """Return whether a mention of a type may make a subtype that is no item."""
        index, inner = self.index, self.index.scope[row]
        is_item = inner >= 0 and index.definitions[inner].symbol >= 0
        return index.role[row] == Role.AKIN or (index.role[row] == Role.BASE and not is_item)

    def _is_murky(self, symbol: int) -> bool:
        """Return whether code that nobody reads has one of a symbol's names, its aliases included."""
        index = self.index
        aliases = (index.names[index.name[row]] for name in self._names[symbol] for row in self._uses[name])
        return not self._murky.isdisjoint({index.symbols[symbol].name, *aliases})

    def _check(self, row: int, *, is_method: bool) -> None:
        index = self.index
        if index.role[row] not in (Role.REFERENCE, Role.BASE, Role.AKIN, Role.UNCLEAR):
            return
        meant = self._meant.get(row)
        if not meant or _UNRESOLVED in meant:
            if not meant and is_method and index.receiver[row] == Receiver.NONE:
                return
            raise Unclear("a mention that the index does not explain")
        if any(one not in self._defined and one != "local" and _package(one) in self._packages for one in meant):
            # The same code, resolved to an installed copy instead of the repository.
            raise Unclear("an installed copy of the package")

    def subtypes(self, symbol: int) -> frozenset[int]:
        """Return the types that the SCIP index lists as implementations of this one.

        Raises:
            Unclear: the type is not in the SCIP index, or it is named where nothing tells what is meant.
        """
        if not self._names[symbol] or self._is_murky(symbol):
            raise Unclear("not in the index")
        for row in self.index.mentions(self.index.symbols[symbol].name):
            self._check(row, is_method=False)
        if any(self._is_subtype_unnamed(row) for name in self._names[symbol] for row in self._uses[name]):
            raise Unclear("named where a type without a name, or another name for it, may arise")
        below = {one for name in self._names[symbol] for one in self._subtypes[name]}
        return frozenset(self._own[one] for one in below if one in self._own and one.endswith("#"))


def _package(symbol: str) -> str:
    """Return the manager and name of a symbol's package."""
    return " ".join(symbol.split(" ")[1:3])


def _bytes_before(line: bytes, column: int, encoding: int) -> int:
    """Return how many bytes of a line stand before a column, which counts bytes or UTF-16's units."""
    if encoding == _UTF8 or line.isascii():
        return column
    return len(line.decode("utf-8", "replace").encode("utf-16-le")[: 2 * column].decode("utf-16-le", "ignore").encode())

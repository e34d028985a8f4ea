"""The strict rule: find names with only one meaning, and their users, in repositories without a SCIP index.

A symbol is accepted if every mention of its name in the repository is explained: as the definition, an import, or a
use that can mean nothing else. A single mention that could mean something else rules the symbol out.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from typing import NamedTuple, Protocol

from locobench.derive.code.index import Index
from locobench.derive.code.rows import FUNCTIONS, TYPES, Receiver, Role
from locobench.derive.resolve.origins import is_ours

_FACE = re.compile(r"(^|/)(__init__|index)\.\w+$")


class Item(NamedTuple):
    """An item in an answer: a symbol, or a file's top level."""

    file: int
    symbol: int
    """TOP_LEVEL for code outside all functions and classes."""


class Unclear(Exception):
    """The users of a symbol cannot be determined; the message gives the reason, worded to follow a count."""


class Resolver(Protocol):
    """Finds the users and subtypes of symbols."""

    tier: str

    def users(self, symbol: int) -> frozenset[Item]:
        """Return the items that use the symbol, except itself; raise Unclear if they cannot be determined."""

    def subtypes(self, symbol: int) -> frozenset[int]:
        """Return the types that name this one as a supertype; raise Unclear if they cannot be determined."""


class Strict:
    """The strict rule over an index."""

    tier = "syntax"

    def __init__(self, index: Index) -> None:
        self.index = index
        self._library = index.language.library_names
        self._known: dict[int, frozenset[Item] | str] = {}
        self._by_name: dict[str, list[int]] = defaultdict(list)
        self._by_base: dict[str, set[int]] = defaultdict(set)
        for number, symbol in enumerate(index.symbols):
            if symbol.kind != "container":
                self._by_name[symbol.name].append(number)
            for base in symbol.bases:
                self._by_base[base].add(number)
        self._faces = [number for number, path in enumerate(index.files) if _FACE.search(path)]
        # File -> names that its imports bring in.
        self._imported: dict[int, set[int]] = defaultdict(set)
        for row in range(len(index.name)):
            if index.role[row] == Role.IMPORT:
                self._imported[index.file[row]].add(index.name[row])

    def users(self, symbol: int) -> frozenset[Item]:
        """Return the users of a symbol.

        Raises:
            Unclear: a mention of its name may mean something else.
        """
        if symbol not in self._known:
            try:
                self._known[symbol] = self._users(symbol)
            except Unclear as reason:
                self._known[symbol] = str(reason)
        known = self._known[symbol]
        if isinstance(known, str):
            raise Unclear(known)
        return known

    def _users(self, number: int) -> frozenset[Item]:
        index, symbol = self.index, self.index.symbols[number]
        self._check_name(number)
        found = set()
        for row in index.mentions(symbol.name):
            if not self._is_use(number, row):
                continue
            item = index.item_of(index.scope[row])
            if item is None:
                raise Unclear("used where no function can be told")
            if not index.is_inside(item, number):
                found.add(Item(index.file[row], item))
        return frozenset(found)

    def _check_name(self, number: int) -> None:
        """Raise Unclear unless the name alone identifies the symbol."""
        index, symbol = self.index, self.index.symbols[number]
        others = [index.symbols[other] for other in self._by_name[symbol.name] if other != number]
        # A type's own constructors may have its name.
        if any(symbol.kind not in TYPES or (one.kind, one.owner) != ("constructor", number) for one in others):
            raise Unclear("defined more than once")
        if symbol.kind in ("mixed", "constructor"):
            raise Unclear("a constructor, or of two kinds")
        if symbol.kind == "method" and symbol.owner < 0 and index.language.visibility == "import":
            raise Unclear("a method of an object, not of a class")
        if symbol.name in index.murky:
            raise Unclear("named in a broken file or a macro")
        if symbol.name in self._library:
            raise Unclear("a name of the library, too")
        if index.language.is_special(symbol.name):
            raise Unclear("used without being named")
        if len(symbol.name) < 3:
            raise Unclear("too short a name")

    def _is_use(self, number: int, row: int) -> bool:
        """Return whether a mention of the symbol's name is a use of it; raise Unclear if it may mean something else."""
        index, symbol = self.index, self.index.symbols[number]
        role, receiver, language = index.role[row], index.receiver[row], index.language
        is_method = symbol.kind == "method"
        if role in (Role.IGNORED, Role.DEFINITION, Role.DECLARATION):
            if role == Role.DEFINITION and index.scope[row] >= 0 and self._hides(number, row):
                raise Unclear("also a local name")
            return False
        if role == Role.UNCLEAR:
            raise Unclear("in an attribute, a pattern or a variant")
        if role in (Role.ALIASED, Role.FOREIGN):
            raise Unclear("imported under another name, or from elsewhere")
        if role == Role.IMPORT:
            if not is_ours(index, row):
                raise Unclear("imported under another name, or from elsewhere")
            return False
        if is_method and language.called and not self._is_called(row):
            return False
        if role == Role.KEY:
            return False
        if is_method and receiver == Receiver.NONE and not language.implicit_self:
            # A bare name is a variable, since a method needs a receiver. But it may define a field of the same name.
            if role == Role.BINDING and index.scope[row] >= 0 and not self._is_in_function(index.scope[row]):
                raise Unclear("also a field")
            return False
        if role == Role.BINDING:
            if symbol.kind == "constant" and index.start[row] in self._starts(number):
                return False
            raise Unclear("also a variable or a field")
        if receiver == Receiver.COMPLEX:
            raise Unclear("behind a receiver that nobody knows")
        if is_method:
            return self._is_method_use(number, row)
        if receiver == Receiver.NONE:
            return self._is_visible(number, row)
        if receiver == Receiver.ITSELF:
            raise Unclear("also an attribute")
        word = index.names[receiver - Receiver.FIRST_NAME]
        if self._qualifies(word, number, index.file[row]):
            return True
        raise Unclear("behind a receiver that nobody knows")

    def _is_method_use(self, number: int, row: int) -> bool:
        index, symbol = self.index, self.index.symbols[number]
        receiver = index.receiver[row]
        if receiver in (Receiver.NONE, Receiver.ITSELF):
            if self._is_in_family(index.scope[row], number):
                return True
            raise Unclear("used in another class")
        word = index.names[receiver - Receiver.FIRST_NAME]
        owner = symbol.qualified.split(".")[-2] if "." in symbol.qualified else ""
        if word == owner and self._by_name[owner] and word not in index.murky:
            return True
        raise Unclear("behind a receiver that nobody knows")

    def _is_in_family(self, scope: int, number: int) -> bool:
        """Return whether a definition is inside the method's class or a class derived from it."""
        owner = self.index.symbols[number].qualified.rpartition(".")[0]
        for one in self.index.around(scope):
            if one.qualified.rpartition(".")[0] == owner and one.kind in FUNCTIONS:
                return True
            if one.qualified == owner or (one.kind == "container" and one.name == owner.rpartition(".")[2]):
                return True
            if one.kind == "class" and one.symbol >= 0 and self._derives(one.symbol, owner.rpartition(".")[2]):
                return True
        return False

    def _derives(self, symbol: int, name: str, depth: int = 0) -> bool:
        """Return whether a class derives from one with this name, following only names that are defined once."""
        for base in self.index.symbols[symbol].bases:
            types = [number for number in self._by_name[base] if self.index.symbols[number].kind in TYPES]
            if len(types) == 1 and (base == name or (depth < 20 and self._derives(types[0], name, depth + 1))):
                return True
        return False

    def _is_visible(self, number: int, row: int) -> bool:
        """Return True if a bare name can mean the symbol in this place; raise Unclear otherwise."""
        index, symbol = self.index, self.index.symbols[number]
        file = index.file[row]
        if index.language.visibility == "anywhere" or file == symbol.file:
            return True
        if index.language.visibility == "folder":
            if _folder(index.files[file]) == _folder(index.files[symbol.file]):
                return True
            raise Unclear("a bare name in another package")
        if index.name[row] in self._imported[file]:
            return True
        raise Unclear("a bare name that is not imported")

    def _qualifies(self, word: str, number: int, file: int) -> bool:
        """Return whether `word` in `word.name` can be the symbol's module, namespace or class."""
        index, symbol = self.index, self.index.symbols[number]
        if "." in symbol.qualified:
            return word == symbol.qualified.split(".")[-2]
        if index.language.visibility == "import":
            if index.name_ids.get(word, -1) not in self._imported[file]:
                return False
            path = index.files[symbol.file]
            return word == path.rpartition("/")[2].partition(".")[0] or self._hands_on(word, symbol.name, path)
        if index.language.visibility == "folder":
            return word == _folder(index.files[symbol.file]).rpartition("/")[2]
        if index.language.name == "rust":
            return word in ("crate", "super") or word in _parts(index.files[symbol.file]) | index.namespaces
        return word in index.namespaces

    def _hands_on(self, package: str, name: str, path: str) -> bool:
        """Return whether a package above a file re-exports the name in its __init__.py or index file."""
        folder = path
        while folder := _folder(folder):
            if folder.rpartition("/")[2] == package:
                face = next((f for f in self._faces if _folder(self.index.files[f]) == folder), None)
                return face is not None and self.index.name_ids[name] in self._imported[face]
        return False

    def _is_called(self, row: int) -> bool:
        index = self.index
        text, start = index.texts[index.file[row]], index.start[row]
        end = start + len(index.names[index.name[row]].encode())
        return text[end : end + 40].lstrip()[:1] == b"(" or text[max(0, start - 2) : start] == b"::"

    def _is_in_function(self, scope: int) -> bool:
        return any(one.kind in FUNCTIONS for one in self.index.around(scope))

    def _hides(self, number: int, row: int) -> bool:
        """Return whether a definition hides the symbol because it is local to a function."""
        index = self.index
        start = index.start[row]
        if start in self._starts(number) and index.file[row] == index.symbols[number].file:
            return False
        own = [n for n in index.by_file[index.file[row]] if index.definitions[n].name_start == start]
        return not own or all(index.definitions[n].symbol < 0 for n in own)

    def _starts(self, number: int) -> set[int]:
        return {self.index.definitions[one].name_start for one in self.index.symbols[number].definitions}

    def subtypes(self, symbol: int) -> frozenset[int]:
        """Return the types that name this one as a supertype.

        Raises:
            Unclear: the name may mean something else.
        """
        index, name = self.index, self.index.symbols[symbol].name
        self._check_name(symbol)
        if any(index.role[row] in (Role.ALIASED, Role.FOREIGN) for row in index.mentions(name)):
            raise Unclear("imported under another name, or from elsewhere")
        return frozenset(self._by_base.get(name, ()))


@cache
def _parts(path: str) -> frozenset[str]:
    folders, _, file = path.rpartition("/")
    return frozenset((*folders.split("/"), *folders.replace("-", "_").split("/"), file.partition(".")[0]))


def _folder(path: str) -> str:
    return path.rpartition("/")[0]

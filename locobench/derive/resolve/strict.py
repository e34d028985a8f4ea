"""The strict rule: find names with only one meaning, and their users.

A symbol is accepted if every mention of its name in the repository is explained: as the definition, an import, or a
use that can mean nothing else. A single mention that could mean something else rules the symbol out.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from functools import cached_property
from typing import NamedTuple

from locobench.derive.code.index import Index
from locobench.derive.code.rows import FUNCTIONS, TYPES, Receiver, Role
from locobench.derive.resolve.modules import FileModules, modules_of


class Item(NamedTuple):
    """An item in an answer: a symbol, or a file's top level."""

    file: int
    symbol: int
    """TOP_LEVEL for code outside all functions and classes."""


class Unclear(Exception):
    """The users of a symbol cannot be determined; the message gives the reason, worded to follow a count."""


class Strict:
    """The strict rule over an index."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self._library = index.language.library_names
        self._known: dict[int, frozenset[Item] | str] = {}
        self._by_name: dict[str, list[int]] = defaultdict(list)
        for number, symbol in enumerate(index.symbols):
            self._by_name[symbol.name].append(number)
        self.modules = modules_of(index)
        self._bound: dict[int, set[int]] = {}

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
        found: set[Item] = set()
        for row in index.mentions(symbol.name):
            if self._is_use(number, row):
                item = index.item_of(index.scope[row])
                if item is None:
                    raise Unclear("used outside of any known function")
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
        if symbol.kind == "method" and symbol.owner < 0 and isinstance(self.modules, FileModules):
            raise Unclear("a method of an object, not of a class")
        if symbol.name in index.murky:
            raise Unclear("named in a broken file or a macro")
        if symbol.name in self._library:
            raise Unclear("also a name of the library")
        if index.language.is_special(symbol.name):
            raise Unclear("used without being named")
        if len(symbol.name) < 3:
            raise Unclear("too short a name")
        # A method needs a receiver, so a bare name that is imported cannot mean it.
        if (symbol.kind != "method" or index.language.implicit_self) and (
            self.modules.is_renamed(number)
            or not all(self.modules.brings(one, number) for one in self.modules.named[symbol.name])
        ):
            raise Unclear("imported under another name, or from elsewhere")
        if index.language.name == "php" and self._spellings[symbol.name.casefold()] > 1:
            raise Unclear("written in capitals and in small letters")

    def _is_use(self, number: int, row: int) -> bool:
        """Return whether a mention of the symbol's name is a use of it; raise Unclear if it may mean something else."""
        index, symbol = self.index, self.index.symbols[number]
        role, receiver, language = index.role[row], index.receiver[row], index.language
        is_method = symbol.kind == "method"
        if role in (Role.DEFINITION, Role.DECLARATION):
            if role == Role.DEFINITION and index.scope[row] >= 0 and self._hides(number, row):
                raise Unclear("also a local name")
            return False
        if role == Role.UNCLEAR:
            raise Unclear("in an attribute, a pattern or a variant")
        if role in (Role.IMPORT, Role.KEY) or (is_method and language.implicit_self and not self._is_called(row)):
            return False
        if is_method and receiver == Receiver.NONE and not language.implicit_self:
            # A bare name is a variable, since a method needs a receiver. But it may define a field of the same name.
            around = [one.kind for one in index.around(index.scope[row])]
            if role == Role.BINDING and around and FUNCTIONS.isdisjoint(around):
                raise Unclear("also a field")
            return False
        if role == Role.BINDING:
            raise Unclear("also a variable or a field")
        if receiver == Receiver.COMPLEX:
            raise Unclear("called on an unknown receiver")
        if is_method:
            return self._is_method_use(number, row)
        if receiver == Receiver.NONE:
            if index.file[row] != symbol.file and not self.modules.sees(index.file[row], number):
                raise Unclear("a bare name that is not imported")
        elif receiver == Receiver.ITSELF or not self._qualifies(number, row):
            raise Unclear("called on an unknown receiver")
        return True

    def _is_method_use(self, number: int, row: int) -> bool:
        index, receiver = self.index, self.index.receiver[row]
        owner = index.symbols[number].qualified.rpartition(".")[0]
        name = owner.rpartition(".")[2]
        if receiver in (Receiver.NONE, Receiver.ITSELF):
            # The function around it belongs to the method's class, or to one that derives from it.
            if not any(
                (one.kind in FUNCTIONS and one.qualified.rpartition(".")[0] == owner)
                or (one.kind == "class" and one.symbol >= 0 and self._derives(one.symbol, name))
                for one in index.around(index.scope[row])
            ):
                raise Unclear("used in another class")
        elif index.names[receiver - Receiver.FIRST_NAME] != name or self._type(name, index.file[row]) is None:
            raise Unclear("called on an unknown receiver")
        return True

    def _derives(self, symbol: int, name: str, depth: int = 0) -> bool:
        """Return whether a class derives from one with this name, following only names that are defined once."""
        one, definitions = self.index.symbols[symbol], self.index.definitions
        for base in (base for number in one.definitions for base in definitions[number].bases):
            above = self._type(base, one.file)
            if above is not None and (base == name or (depth < 20 and self._derives(above, name, depth + 1))):
                return True
        return False

    def _type(self, name: str, file: int) -> int | None:
        """Return the type that a bare name means in a file, or None if that cannot be told."""
        index = self.index
        types = [number for number in self._by_name[name] if index.symbols[number].kind != "constructor"]
        if len(types) != 1 or name in index.murky or name in self._library or self._binds(file, name):
            return None
        (found,) = types
        is_clear = (
            index.symbols[found].kind in TYPES
            and not self.modules.is_renamed(found)
            and all(self.modules.brings(one, found) for one in self.modules.named[name])
            and (index.symbols[found].file == file or self.modules.sees(file, found))
        )
        return found if is_clear else None

    def _binds(self, file: int, name: str) -> bool:
        """Return whether a variable, a parameter or a field in a file has a name."""
        index = self.index
        if file not in self._bound:
            rows = range(bisect_left(index.file, file), bisect_right(index.file, file))
            self._bound[file] = {index.name[row] for row in rows if index.role[row] == Role.BINDING}
        return index.name_ids.get(name, -1) in self._bound[file]

    def _qualifies(self, number: int, row: int) -> bool:
        """Return whether `word` in `word.name` can only be the symbol's module or class."""
        index, symbol = self.index, self.index.symbols[number]
        word, file = index.names[index.receiver[row] - Receiver.FIRST_NAME], index.file[row]
        if "." in symbol.qualified and word == symbol.qualified.split(".")[-2]:
            return self._type(word, file) is not None
        return not self._binds(file, word) and self.modules.reaches(file, word, number)

    def _is_called(self, row: int) -> bool:
        index = self.index
        text, start = index.texts[index.file[row]], index.start[row]
        end = start + len(index.names[index.name[row]].encode())
        return text[end : end + 40].lstrip()[:1] == b"(" or text[max(0, start - 2) : start] == b"::"

    def _hides(self, number: int, row: int) -> bool:
        """Return whether a definition hides the symbol because it is local to a function."""
        index, file, start = self.index, self.index.file[row], self.index.start[row]
        own = (index.definitions[one] for one in index.by_file[file])
        is_item = any(one.name_start == start and one.symbol >= 0 for one in own)
        return not is_item and (file, start) not in index.places(number)

    def subtypes(self, symbol: int) -> frozenset[int]:
        """Return the types that name this one as a supertype.

        Raises:
            Unclear: the name may mean something else, or a type may have this supertype in a way that is not followed.
        """
        index = self.index
        self._check_name(symbol)
        found = set()
        for row in index.mentions(index.symbols[symbol].name):
            if index.role[row] in (Role.AKIN, Role.UNCLEAR):
                raise Unclear("a supertype that cannot be resolved")
            if index.role[row] != Role.BASE or not self._is_use(symbol, row):
                continue
            one = index.definitions[index.scope[row]]
            if one.symbol < 0 or index.symbols[one.symbol].kind not in TYPES or self._binds(one.file, one.name):
                raise Unclear("a supertype that cannot be resolved")
            found.add(one.symbol)
        return frozenset(found)

    @cached_property
    def _spellings(self) -> Counter[str]:
        """Name without its case -> in how many ways mentions write it."""
        return Counter(self.index.names[number].casefold() for number in set(self.index.name))

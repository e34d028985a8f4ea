"""The roles of mentions, and the records of definitions and symbols."""

from __future__ import annotations

from dataclasses import dataclass, field


class Role:
    """The role of a mention: numbers for a column of bytes.

    BASE is a supertype that its class names; AKIN names a type where a subtype or another name for it may arise.
    """

    IGNORED, REFERENCE, DEFINITION, DECLARATION, BINDING, KEY, IMPORT, UNCLEAR, BASE, AKIN = range(10)


class Receiver:
    """The receiver before a mention; from FIRST_NAME on, the number of a name."""

    NONE, ITSELF, COMPLEX, FIRST_NAME = range(4)


TOP_LEVEL = -1
"""The scope of a mention that is not inside an item."""

FUNCTIONS = frozenset({"function", "method", "constructor"})
TYPES = frozenset({"class", "type"})


@dataclass(slots=True)
class Definition:
    """A named definition in one file; every overload and variant of a name is a definition of its own."""

    kind: str
    """function, method, constructor, class, type, constant, macro or nested."""
    name: str
    file: int
    start: int
    end: int
    """Byte offsets `start` and `end` span the signature and the body, in Python the decorators as well."""
    name_start: int
    outer_start: int
    """Where it begins with its decorators or attributes, and modifiers."""
    owner: str = ""
    """The class, taken from a receiver's type or a qualified name."""
    own_self: str = ""
    """The method's name for its receiver."""
    parent: int = -1
    """Number of the enclosing definition."""
    qualified: str = ""
    """`Class.name`, as used in answers."""
    symbol: int = -1
    """Number of the symbol that it defines; -1 if it is not an item."""
    bases: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Symbol:
    """An item that questions and answers can name: all definitions of one qualified name in a file."""

    kind: str
    name: str
    file: int
    qualified: str
    definitions: list[int]
    owner: int = -1
    """Number of the enclosing class's symbol, or -1."""

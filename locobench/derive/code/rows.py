"""What a mention, a definition and a symbol are."""

from __future__ import annotations

from dataclasses import dataclass, field

# What a mention is.
IGNORED, REFERENCE, DEFINITION, DECLARATION, BINDING, KEY, IMPORT, UNCLEAR, ALIASED, FOREIGN = range(10)
# What stands before it.
NO_RECEIVER, ITSELF, COMPLEX, FIRST_NAME = 0, 1, 2, 3
# In whose text it stands, where that is no item.
TOP_LEVEL, NOWHERE = -1, -2

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

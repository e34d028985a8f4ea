"""What finds the users and subtypes of symbols, and what it may say."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from locobench.derive.code.index import Index


class Item(NamedTuple):
    """An item in an answer: a symbol, or a file's top level."""

    file: int
    symbol: int
    """TOP_LEVEL for code outside all functions and classes."""


class Unclear(Exception):
    """The users of a symbol cannot be determined; the message gives the reason, worded to follow a count."""


def user(index: Index, row: int, symbol: int) -> set[Item]:
    """Return the item around a mention, or nothing inside the symbol that is mentioned.

    Raises:
        Unclear: the item has no name.
    """
    item = index.item_of(index.scope[row])
    if item is None:
        raise Unclear("used outside of any known function")
    return set() if index.is_inside(item, symbol) else {Item(index.file[row], item)}


class Resolver(Protocol):
    """Finds the users and subtypes of symbols."""

    tier: str

    def users(self, symbol: int) -> frozenset[Item]:
        """Return the items that use the symbol, except itself; raise Unclear if they cannot be determined."""

    def subtypes(self, symbol: int) -> frozenset[int]:
        """Return the types that name this one as a supertype; raise Unclear if they cannot be determined."""

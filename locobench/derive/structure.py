"""Find questions about the structure of the code: their targets, exact answers, and a single grep's answers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from locobench.derive.code.index import Index
from locobench.derive.code.rows import FUNCTIONS, TOP_LEVEL, TYPES, Role
from locobench.derive.finding import Finding
from locobench.derive.grep import Grep
from locobench.derive.kinds import FEWEST_FILES, FEWEST_ITEMS, MOST_ITEMS
from locobench.derive.resolve.modules import FileModules
from locobench.derive.resolve.strict import Item, Strict, Unclear

# Of a statement at the top level, in any of the languages: how it begins, and a string behind a constant's name.
_FIRST = re.compile(rb"[^\s)\]}]")
_NAMED = re.compile(rb"(?:export\s+)?(?:default\b|(?:const|let|var|static|final|val)\s|[\w.$]+\s*(?::[^=\n]+)?=[^=])")
_STRING = re.compile(rb"\s*:?[^=\"'`(]*=\s*[rbuRBU]{0,2}([\"'`])(?:(?!\1)[^\\\n]|\\.)*\1(?:\s*as\s+const)?\s*;?\s*")

_WHOLE_FILE = -2
"""Instead of a symbol in an item: the file itself."""


class Structure:
    """Finds questions in an index."""

    def __init__(self, index: Index) -> None:
        self.index, self.resolver = index, Strict(index)
        self.reasons: Counter[str] = Counter()
        """Reason -> number of symbols left out."""
        self._grep = Grep(index)

    def findings(self) -> Iterator[Finding]:
        """Yield every valid question; a target may have several."""
        for number, symbol in enumerate(self.index.symbols):
            if symbol.kind in ("mixed", "constructor", "macro"):
                continue
            if symbol.kind in TYPES:
                yield from filter(None, self._of_subtypes(number))
            try:
                direct = self.resolver.users(number)
            except Unclear as reason:
                self.reasons[str(reason)] += 1
                continue
            if self._is_private_label(number, direct):
                self.reasons["a string that one file uses"] += 1
                continue
            yield from filter(None, self._of_users(number, direct))
        graph = self.resolver.modules
        if isinstance(graph, FileModules):
            yield from filter(None, self._of_imports(graph))

    def _is_private_label(self, number: int, direct: frozenset[Item]) -> bool:
        """Return whether a symbol is a string constant that only its own file uses: a mere label."""
        symbol = self.index.symbols[number]
        if symbol.kind != "constant" or {item.file for item in direct} != {symbol.file}:
            return False
        one, text = self.index.definitions[symbol.definitions[0]], self.index.texts[symbol.file]
        return _STRING.fullmatch(text, one.name_start + len(symbol.name.encode()), one.end) is not None

    def _of_users(self, number: int, direct: frozenset[Item]) -> Iterator[Finding | None]:
        target, kind = self._item(number), self.index.symbols[number].kind
        control = {"class": "class_users", "type": "class_users", "constant": "constant_users"}
        grep = partial(self._grep.items, number)
        yield self._finding(control.get(kind, "direct_users"), target, 1, direct, grep)
        found, fresh, depth = set(direct), set(direct), 1
        words = [self.index.symbols[number].name]
        while not any(self._makes_value(word, fresh) for word in words):
            symbols = {item.symbol for item in fresh if item.symbol >= 0}
            front = sorted(one for one in symbols if self.index.symbols[one].kind in (*FUNCTIONS, "mixed"))
            try:
                reached = {item for one in front for item in self.resolver.users(one)}
            except Unclear:
                return
            words = [self.index.symbols[one].name for one in front]
            fresh = {item for item in reached - found if not self.index.is_inside(item.symbol, number)}
            if not fresh:
                # Nothing new, so the answer is complete.
                if depth > 1:
                    yield self._finding("all_users", target, 0, found, grep)
                return
            depth += 1
            found |= fresh
            if depth in (2, 3):
                yield self._finding("users_in_steps", target, depth, found, grep)
            if len(found) > 4 * MOST_ITEMS:
                return

    def _makes_value(self, name: str, users: Iterable[Item]) -> bool:
        """Return whether a file's top level makes a value with `name`: `const page = wrap(view)`.

        Whoever uses that value uses `name` in a further step, or so most readers say; the rules would not.
        """
        index = self.index
        files = {item.file for item in users if item.symbol == TOP_LEVEL}
        found = any(
            index.file[row] in files
            and index.scope[row] == TOP_LEVEL
            and index.role[row] == Role.REFERENCE
            and gives_a_name(index.texts[index.file[row]], index.start[row])
            for row in index.mentions(name)
        )
        self.reasons["a value made at the top level of a file, whose uses may count"] += found
        return found

    def _of_subtypes(self, number: int) -> Iterator[Finding | None]:
        try:
            direct = self.resolver.subtypes(number)
            found, pending = set(direct), list(direct)
            while pending:
                fresh = self.resolver.subtypes(pending.pop()) - found
                found |= fresh
                pending += fresh
        except Unclear:
            return
        if not found:
            return
        grep = partial(map, self._item, direct)
        yield self._finding("subtypes", self._item(number), 0, map(self._item, found), grep)

    def _of_imports(self, graph: FileModules) -> Iterator[Finding | None]:
        files = range(len(self.index.files))
        murky = {file for file in files if graph.is_murky(file)}
        for file in files:
            found = graph.all_importers(file)
            if not found:
                continue
            if file in murky or not murky.isdisjoint(found):
                self.reasons["imports that cannot be resolved"] += 1
                continue
            answer, direct = ([Item(one, _WHOLE_FILE) for one in some] for some in (found, graph.importers[file]))
            yield self._finding("importers", Item(file, _WHOLE_FILE), 0, answer, partial(list, direct))

    def _finding(
        self, kind: str, target: Item, depth: int, items: Iterable[Item], grep: Callable[[], Iterable[Item]]
    ) -> Finding | None:
        """Return a finding, or None if its answer has the wrong size, in which case `grep` is not called."""
        index, home = self.index, self.index.home(self.index.files[target.file])

        def outside(some: Iterable[Item]) -> list[Item]:
            """Between repositories, only what is outside the target's own is asked for."""
            return [item for item in some if not index.together or index.home(index.files[item.file]) != home]

        items = outside(items)
        if not FEWEST_ITEMS <= len(items) <= MOST_ITEMS or len({item.file for item in items}) < FEWEST_FILES:
            return None
        kind_of_target = "module" if target.symbol == _WHOLE_FILE else index.symbols[target.symbol].kind
        answer, hits = (tuple(sorted(map(self.say, some))) for some in (items, outside(grep())))
        return Finding(kind, self.say(target), kind_of_target, depth, answer, hits, home)

    def _item(self, symbol: int) -> Item:
        return Item(self.index.symbols[symbol].file, symbol)

    def say(self, item: Item) -> str:
        """Return an item in the form used in answers."""
        if item.symbol == _WHOLE_FILE:
            return self.index.files[item.file]
        name = "<top level>" if item.symbol == TOP_LEVEL else self.index.symbols[item.symbol].qualified
        return f"{self.index.files[item.file]}: {name}"


def gives_a_name(text: bytes, offset: int) -> bool:
    """Return whether the statement around an offset gives a value a name, or exports one.

    It begins in the last line at or before the offset that is not indented and closes nothing.
    """
    start = text.rfind(b"\n", 0, offset) + 1
    while start and not _FIRST.match(text, start):
        start = text.rfind(b"\n", 0, start - 1) + 1
    return _NAMED.match(text, start) is not None

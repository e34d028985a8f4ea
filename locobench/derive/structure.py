"""Find questions about the structure of the code: their targets, exact answers, and a single grep's answers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
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


def _fits(items: int, files: int) -> bool:
    return FEWEST_ITEMS <= items <= MOST_ITEMS and files >= FEWEST_FILES


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
            yield from self._of_imports(graph)

    def _is_private_label(self, number: int, direct: frozenset[Item]) -> bool:
        """Return whether a symbol is a string constant that only its own file uses: a mere label."""
        symbol = self.index.symbols[number]
        if symbol.kind != "constant" or {item.file for item in direct} != {symbol.file}:
            return False
        one, text = self.index.definitions[symbol.definitions[0]], self.index.texts[symbol.file]
        return _STRING.fullmatch(text, one.name_start + len(symbol.name.encode()), one.end) is not None

    def _of_users(self, number: int, direct: frozenset[Item]) -> Iterator[Finding | None]:
        name, kind = self.index.symbols[number].name, self.index.symbols[number].kind
        control = {"class": "class_users", "type": "class_users", "constant": "constant_users"}
        grep = partial(self._grep.items, number)
        yield self._finding(control.get(kind, "direct_users"), number, 1, direct, grep)
        found, fresh, depth = set(direct), set(direct), 1
        words = [name]
        while not any(self._makes_value(word, fresh) for word in words):
            front = self._expandable(fresh)
            try:
                reached = {item for one in front for item in self.resolver.users(one)}
            except Unclear:
                return
            words = [self.index.symbols[one].name for one in front]
            fresh = {item for item in reached - found if not self.index.is_inside(item.symbol, number)}
            if not fresh:
                # Nothing new, so the answer is complete.
                if depth > 1:
                    yield self._finding("all_users", number, 0, found, grep)
                return
            depth += 1
            found |= fresh
            if depth in (2, 3):
                yield self._finding("users_in_steps", number, depth, found, grep)
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

    def _expandable(self, items: Iterable[Item]) -> list[int]:
        kinds = (*FUNCTIONS, "mixed")
        return sorted(
            {item.symbol for item in items if item.symbol >= 0 and self.index.symbols[item.symbol].kind in kinds}
        )

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
        items = {self._item(one) for one in found}

        def grep() -> set[Item]:
            return {self._item(one) for one in direct}

        yield self._finding("subtypes", number, 0, items, grep)

    def _of_imports(self, graph: FileModules) -> Iterator[Finding]:
        index = self.index
        murky = {file for file in range(len(index.files)) if graph.is_murky(file)}
        for file, path in enumerate(index.files):
            found = graph.all_importers(file)
            if not found:
                continue
            if file in murky or not murky.isdisjoint(found):
                self.reasons["imports that cannot be resolved"] += 1
                continue
            direct = graph.importers.get(file, ())
            answer, grep = ([one for one in some if self._counts(file, one)] for some in (found, direct))
            if not _fits(len(answer), len(answer)):
                continue
            yield Finding(
                "importers", path, "module", 0,
                tuple(sorted(index.files[one] for one in answer)), tuple(sorted(index.files[one] for one in grep)),
                index.home(path),
            )  # fmt: skip

    def _finding(
        self, kind: str, number: int, depth: int, items: Collection[Item], grep: Callable[[], Collection[Item]]
    ) -> Finding | None:
        """Return a finding, or None if its answer has the wrong size, in which case `grep` is not called."""
        symbol = self.index.symbols[number]
        items = [item for item in items if self._counts(symbol.file, item.file)]
        if not _fits(len(items), len({item.file for item in items})):
            return None
        hits = [item for item in grep() if self._counts(symbol.file, item.file)]
        return Finding(
            kind, self.say(self._item(number)), symbol.kind, depth,
            tuple(sorted(map(self.say, items))), tuple(sorted(map(self.say, hits))),
            self.index.home(self.index.files[symbol.file]),
        )  # fmt: skip

    def _counts(self, target: int, file: int) -> bool:
        """Return whether an item in a file is asked for: between repositories, only outside the target's own."""
        home, files = self.index.home, self.index.files
        return not self.index.together or home(files[file]) != home(files[target])

    def _item(self, symbol: int) -> Item:
        return Item(self.index.symbols[symbol].file, symbol)

    def say(self, item: Item) -> str:
        """Return an item in the form used in answers."""
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

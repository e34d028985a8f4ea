"""Questions from a repository's history: given a commit's message and its parent's tree, which functions changed?"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import NamedTuple

from locobench.derive.code.build import build
from locobench.derive.code.index import Index
from locobench.derive.code.languages import Language
from locobench.derive.code.rows import TOP_LEVEL
from locobench.derive.code.scope import Source, why_left_out, why_not_read
from locobench.derive.code.tree import LARGEST_SOURCE, Blob, Repository
from locobench.derive.finding import f1
from locobench.derive.functions import END, Part, Tokens, changed_lines, functions_of, outermost, tokens_of
from locobench.derive.kinds import MOST_ITEMS
from locobench.derive.messages import clean, is_about, names_part, why_unfit, words_to_grep

MOST_COMMITS = 3000
"""How far back to look: older trees often need tools that are no longer available."""
MOST_FILES = 6
REMEMBERED = 64
"""Files whose definitions are kept: what one commit made of a file is what the next newer one found."""
FEWEST_CHANGED = 2
"""Fewest changed functions in an answer: a single one can be guessed."""


@dataclass(frozen=True)
class Change:
    """A commit that is suitable for a question."""

    commit: str
    parent: str
    message: str
    """Without issue numbers, links and trailers."""
    answer: tuple[str, ...]
    names: dict[str, list[str]]
    """File that the commit changes -> names it defines."""


class Logged(NamedTuple):
    """A commit from git's log."""

    commit: str
    parents: list[str]
    message: str
    changed: list[tuple[str, str, str, str]]
    """Status, path, and blob ids of the old and the new content."""


@dataclass
class History:
    """Reads a repository's commits, newest first."""

    repository: Repository
    language: Language
    reasons: Counter[str] = field(default_factory=Counter)
    """Reason -> number of commits that are unsuitable."""

    def __post_init__(self) -> None:
        self._index = lru_cache(REMEMBERED)(partial(_index, self.language))

    def changes(self, commit: str) -> Iterator[Change]:
        """Yield the changes that are suitable for a question."""
        for logged in self._log(commit):
            found = self._change(logged)
            if isinstance(found, Change):
                yield found
            else:
                self.reasons[found] += 1

    def _log(self, commit: str) -> Iterator[Logged]:
        """Yield up to MOST_COMMITS commits, from one call of git."""
        listed = self.repository.git(
            "log", f"--max-count={MOST_COMMITS}", "--topo-order", "--raw", "--no-renames", "--no-abbrev", "-z",
            "--format=%H%n%P%n%B", commit,
        )  # fmt: skip
        parts = (part.lstrip("\n") for part in listed.split("\0"))
        one = None
        for part in parts:
            if one and part.startswith(":"):
                _, _, old, new, status = part.split()
                one.changed.append((status, next(parts), old, new))
            elif part:
                if one:
                    yield one
                commit, parents, message = part.split("\n", 2)
                one = Logged(commit, parents.split(), message, [])
        if one:
            yield one

    def _change(self, logged: Logged) -> Change | str:
        """Return the change that a commit makes, or why it is unsuitable."""
        if len(logged.parents) != 1:
            return "a merge, or without a parent"
        message = clean(logged.message)
        if reason := why_unfit(message, logged.message):
            return reason
        if any(status[0] in "DT" for status, *_ in logged.changed):
            return "renames or removes files"
        language = self.language
        code = [
            one
            for one in logged.changed
            if one[1].endswith(language.suffixes) and not why_left_out(Blob(one[1], one[2], 0, ""), language)
        ]
        edited = [(path, ids) for status, path, *ids in code if status == "M"]
        if not 1 <= len(code) <= MOST_FILES or not edited:
            return "too few or too many source files"
        old, new = (
            [
                (blob.path, text)
                for blob, text in self.repository.contents(Blob(path, ids[at], 0, "") for path, ids in edited)
            ]
            for at in (0, 1)
        )
        if any(why_not_read(path, text, language) for path, text in (*old, *new)):
            return "in files that questions leave out"
        before = self._indexes(old)
        # Most commits touch too few functions, which shows before the new files are parsed.
        content = {path: END + text + END for path, text in new}
        functions = functions_of(before)
        touched = sum(any(part.around not in content[item[0]] for part in parts) for item, parts in functions.items())
        if len(before) == len(old) and touched < FEWEST_CHANGED:
            return "too few or too many functions"
        after = self._indexes(new)
        if len(before) < len(old) or len(after) < len(new):
            return "in files that cannot be parsed"
        then, texts = functions_of(after), (dict(old), dict(new))
        edits = {}
        for item, parts in functions.items():
            now = then.get(item, [])
            # A further overload or variant is no change of those that were there.
            if Counter(one.text for one in parts) - Counter(one.text for one in now) and (
                self._tokens(item[0], texts[0][item[0]], parts) - self._tokens(item[0], texts[1][item[0]], now)
            ):
                edits[item] = changed_lines(parts, now)
        if not FEWEST_CHANGED <= len(edits) <= MOST_ITEMS:
            return "too few or too many functions"
        if any(names_part(message, part) for path, name in edits for part in (*name.split("."), _stem(path))):
            return "the message names the answer"
        if not all(is_about(message, f"{name}\n{lines}") for (_, name), lines in edits.items()):
            return "the message does not lead to the answer"
        both = [(path, text, texts[1][path]) for path, text in old]
        if any(self._nameless(path, was, functions) - self._nameless(path, now, then) for path, was, now in both):
            return "a function without a name changed, too"
        items = tuple(sorted(f"{path}: {name}" for path, name in edits))
        names = {path: found for index in before for path, found in index.defined_names().items()}
        return Change(logged.commit, logged.parents[0], message, items, names)

    def _tokens(self, path: str, text: bytes, parts: Sequence[Part]) -> Counter[Tokens]:
        return Counter(tuple(tokens_of(self.language.root(path, text), part.start, part.end)) for part in parts)

    def _nameless(self, path: str, text: bytes, functions: Mapping[tuple[str, str], list[Part]]) -> Counter[Tokens]:
        """Return a file's outermost functions that are no item, nor inside one: callbacks, members of an object."""
        named = [part for item, parts in functions.items() for part in parts if item[0] == path]
        return Counter(
            tuple(tokens_of(node, node.start_byte, node.end_byte))
            for node in outermost(self.language.root(path, text))
            if not any(part.start <= node.start_byte and node.end_byte <= part.end for part in named)
        )

    def _indexes(self, sources: Sequence[tuple[str, bytes]]) -> list[Index]:
        return [index for path, text in sources if (index := self._index(path, text))]

    def best_grep(self, change: Change, files: Sequence[tuple[str, bytes]]) -> tuple[str, tuple[str, ...]]:
        """Return the word of the message whose grep answers the change best, at the parent commit, and that answer.

        Args:
            files: (path, content) of the files to search, at that commit.
        """
        answers: dict[str, set[str]] = defaultdict(set)
        words = sorted(words_to_grep(change.message))
        for path, text in files:
            for word in words:
                at = text.find(word.encode())
                while at >= 0:
                    answers[word] |= self._item(path, text, at)
                    at = text.find(word.encode(), at + len(word))
        # Of words that answer equally well, the first.
        best = max(sorted(answers), key=lambda word: f1(change.answer, answers[word]), default="")
        return best, tuple(sorted(answers.get(best, ())))

    def _item(self, path: str, text: bytes, offset: int) -> set[str]:
        index = self._index(path, text)
        item = index.item_at(0, offset) if index else None
        return {f"{path}: {index.symbols[item].qualified}"} if index and item not in (None, TOP_LEVEL) else set()


def _index(language: Language, path: str, text: bytes) -> Index | None:
    """Return what a file defines; None if it is too large or cannot be parsed."""
    index = build(language, [Source(path, text)] if len(text) <= LARGEST_SOURCE else [], mentions=False)
    return index if index.files else None


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]

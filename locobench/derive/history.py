"""Questions from a repository's history: given a commit's message and its parent's tree, which functions changed?"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from posixpath import basename
from typing import NamedTuple

from locobench.derive.code.build import build
from locobench.derive.code.languages import Language
from locobench.derive.code.rows import TOP_LEVEL
from locobench.derive.code.scope import Source, why_left_out, why_not_read
from locobench.derive.code.tree import LARGEST_SOURCE, Blob, Repository
from locobench.derive.finding import f1
from locobench.derive.functions import Version, changed
from locobench.derive.kinds import MOST_ITEMS
from locobench.derive.messages import clean, is_about, names_part, why_unfit, words_to_grep

MOST_COMMITS = 3000
"""How far back to look: older trees often need tools that are no longer available."""
MOST_FILES = 6
REMEMBERED = 64
"""Files whose definitions are kept: what one commit made of a file is what the next newer one found."""
FEWEST_CHANGED = 2
"""Fewest changed functions in an answer: a single one can be guessed."""


class Change(NamedTuple):
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


class History:
    """Reads a repository's commits, newest first."""

    def __init__(self, repository: Repository, language: Language) -> None:
        self.repository, self.language = repository, language
        self.reasons: Counter[str] = Counter()
        """Reason -> number of commits that are unsuitable."""
        self._version = lru_cache(REMEMBERED)(partial(_version, language))

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
        ours = (one for one in logged.changed if one[1].endswith(language.suffixes))
        code = [one for one in ours if not why_left_out(Blob(one[1], one[2], 0, ""), language)]
        edited = [(path, ids) for status, path, *ids in code if status == "M"]
        if not 1 <= len(code) <= MOST_FILES or not edited:
            return "too few or too many source files"
        old, new = self._contents(edited, 0), self._contents(edited, 1)
        if any(why_not_read(path, text, language) for path, text in (*old, *new)):
            return "in files that questions leave out"
        before = self._versions(old)
        if len(before) < len(old):
            return "in files that cannot be parsed"
        # Most commits touch too few functions, which shows before the new files are parsed.
        if sum(was.gone_from(now) for was, (_, now) in zip(before, new, strict=True)) < FEWEST_CHANGED:
            return "too few or too many functions"
        after = self._versions(new)
        if len(after) < len(new):
            return "in files that cannot be parsed"
        pairs = [*zip(before, after, strict=True)]
        edits = {(was.path, name): lines for was, now in pairs for name, lines in changed(was, now).items()}
        if not FEWEST_CHANGED <= len(edits) <= MOST_ITEMS:
            return "too few or too many functions"
        words = {word for path, name in edits for word in (*name.split("."), basename(path).partition(".")[0])}
        if any(names_part(message, word) for word in words):
            return "the message names the answer"
        if not all(is_about(message, f"{name}\n{lines}") for (_, name), lines in edits.items()):
            return "the message does not lead to the answer"
        if any(was.nameless() - now.nameless() for was, now in pairs):
            return "a function without a name changed, too"
        items = tuple(sorted(f"{path}: {name}" for path, name in edits))
        names = {was.path: was.index.defined_names()[was.path] for was in before}
        return Change(logged.commit, logged.parents[0], message, items, names)

    def _contents(self, edited: Sequence[tuple[str, list[str]]], at: int) -> list[tuple[str, bytes]]:
        blobs = (Blob(path, ids[at], 0, "") for path, ids in edited)
        return [(blob.path, text) for blob, text in self.repository.contents(blobs)]

    def _versions(self, sources: Sequence[tuple[str, bytes]]) -> list[Version]:
        return [version for path, text in sources if (version := self._version(path, text))]

    def best_grep(self, change: Change, files: Sequence[tuple[str, bytes]]) -> tuple[str, ...]:
        """Return the answer of that word of the message whose grep answers the change best, at the parent commit.

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
        return tuple(sorted(answers.get(best, ())))

    def _item(self, path: str, text: bytes, offset: int) -> set[str]:
        if (version := self._version(path, text)) is None:
            return set()
        item = version.index.item_at(0, offset)
        return set() if item in (None, TOP_LEVEL) else {f"{path}: {version.index.symbols[item].qualified}"}


def _version(language: Language, path: str, text: bytes) -> Version | None:
    """Return what a file defines; None if it is too large or cannot be parsed."""
    index = build(language, [Source(path, text)] if len(text) <= LARGEST_SOURCE else [], mentions=False)
    return Version(index) if index.files else None

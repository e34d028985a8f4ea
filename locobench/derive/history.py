"""Questions from a repository's history: given a commit's message and its parent's tree, which functions changed?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, islice
from typing import IO, NamedTuple

from locobench.derive.code.build import build
from locobench.derive.code.index import Index
from locobench.derive.code.languages import Language
from locobench.derive.code.rows import FUNCTIONS, TOP_LEVEL
from locobench.derive.code.scope import Source
from locobench.derive.code.tree import LARGEST_SOURCE, Blob, Repository
from locobench.derive.finding import f1
from locobench.derive.kinds import MOST_ITEMS
from locobench.derive.messages import clean, names_part, why_unfit, words_to_grep

MOST_COMMITS = 3000
"""How far back to look: older trees often need tools that are no longer available."""
MOST_FILES = 6
AT_ONCE = 16
"""Commits per call of git, which takes longer to start than to answer."""
FEWEST_CHANGED = 2
"""Fewest changed functions in an answer: a single one can be guessed."""

_INSERTED = -1
"""The last line of a hunk that only inserts, behind its first line."""
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@")


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
    changed: list[tuple[str, str, str]]
    """Status, path and blob id of the old content."""


class Edit(NamedTuple):
    """A commit that is suitable for a question as far as its message and its files show."""

    commit: str
    parent: str
    message: str
    blobs: list[Blob]
    """The source files it changes, before the change."""


@dataclass
class History:
    """Reads a repository's commits, newest first."""

    repository: Repository
    language: Language
    reasons: Counter[str] = field(default_factory=Counter)
    """Reason -> number of commits that are unsuitable."""

    def changes(self, commit: str, most: int) -> Iterator[Change]:
        """Yield at most `most` changes that are suitable for a question."""
        found = 0
        for batch in self._batches(commit):
            edits = [one for one in batch if isinstance(one, Edit)]
            hunks = self._hunks([one.commit for one in edits])
            contents = self.repository.present(blob for one in edits for blob in one.blobs)
            for one in batch:
                if found == most:
                    return
                if isinstance(one, Edit):
                    answer = self._answer(one, list(islice(contents, len(one.blobs))), hunks.get(one.commit))
                else:
                    answer = one
                if isinstance(answer, Change):
                    found += 1
                    yield answer
                else:
                    self.reasons[answer] += 1

    def _batches(self, commit: str) -> Iterator[list[Edit | str]]:
        """Yield batches, newest commits first: an Edit if the commit may be suitable, otherwise the reason why not."""
        batch: list[Edit | str] = []
        edits = 0
        for logged in self._log(commit):
            batch.append(self._edit(logged))
            edits += isinstance(batch[-1], Edit)
            if edits == AT_ONCE:
                yield batch
                batch, edits = [], 0
        yield batch

    def _log(self, commit: str) -> Iterator[Logged]:
        """Yield up to MOST_COMMITS commits, from one call of git."""
        with self.repository.running(
            "log", f"--max-count={MOST_COMMITS}", "--topo-order", "--raw", "--no-renames", "--no-abbrev", "-z",
            "--format=%H%n%P%n%B", commit,
        ) as process:  # fmt: skip
            assert process.stdout
            fields = (field.decode("utf-8", "surrogateescape").lstrip("\n") for field in _split(process.stdout))
            one = None
            for field in fields:
                if one and field.startswith(":"):
                    _, _, old, _, status = field.split()
                    one.changed.append((status, next(fields), old))
                elif field:
                    if one:
                        yield one
                    commit, parents, message = field.split("\n", 2)
                    one = Logged(commit, parents.split(), message, [])
            if one:
                yield one

    def _edit(self, logged: Logged) -> Edit | str:
        if len(logged.parents) != 1:
            return "a merge, or without a parent"
        message = clean(logged.message)
        if reason := why_unfit(message, logged.message):
            return reason
        if any(status[0] in "DT" for status, *_ in logged.changed):
            return "renames or removes files"
        language = self.language
        code = [
            (status, Blob(path, old, 0, ""))
            for status, path, old in logged.changed
            if path.endswith(language.suffixes) and not language.is_test(path)
        ]
        edited = [blob for status, blob in code if status == "M"]
        if not 1 <= len(code) <= MOST_FILES or not edited:
            return "too few or too many source files"
        return Edit(logged.commit, logged.parents[0], message, edited)

    def _hunks(self, commits: Sequence[str]) -> dict[str, list[tuple[str, int, int]]]:
        """Return each commit's hunks: path, first and last old line; an insertion has the line before it and _INSERTED.

        If the clone lacks files of a commit, that commit and those after it have no entry.
        """
        found: dict[str, list[tuple[str, int, int]]] = {commit: [] for commit in commits}
        commit, path, content = "", "", 0
        with self.repository.running(
            "diff-tree", "--stdin", "-r", "-p", "-U0", "--no-color", "--no-ext-diff", "--",
            *(f"*{suffix}" for suffix in self.language.suffixes), asked=commits,
        ) as process:  # fmt: skip
            assert process.stdout
            for raw in process.stdout:
                if content:
                    content -= not raw.startswith(b"\\")
                    continue
                line = raw.decode("utf-8", "surrogateescape").rstrip("\n")
                if line in commits:
                    commit = line
                elif line.startswith("--- "):
                    path = line.removeprefix("--- ").removeprefix("a/").rstrip("\t")
                elif hunk := _HUNK.match(line):
                    start, old, new = int(hunk[1]), int(hunk[2] or 1), int(hunk[3] or 1)
                    content = old + new
                    found[commit].append((path, start, start + old - 1 if old else _INSERTED))
            if process.wait():
                for missed in commits[commits.index(commit) if commit else 0 :]:
                    del found[missed]
        return found

    def _answer(
        self, edit: Edit, contents: Sequence[tuple[Blob, bytes | None]], hunks: Sequence[tuple[str, int, int]] | None
    ) -> Change | str:
        files = [(blob.path, text) for blob, text in contents if text is not None and len(text) <= LARGEST_SOURCE]
        if hunks is None or any(text is None for _, text in contents):
            return "in files whose content is not in the clone"
        index = build(self.language, [Source(*one) for one in files], mentions=False)
        if len(index.files) != len(contents):
            return "in files that cannot be parsed"
        answer = set()
        starts = [list(accumulate(map(len, text.splitlines(keepends=True)), initial=0)) for text in index.texts]
        numbers = {path: number for number, path in enumerate(index.files)}
        for path, first, last in hunks:
            if path not in numbers:
                continue
            number = numbers[path]
            text = index.texts[number]
            lines = [(first, first + 1)] if last == _INSERTED else [(line, line) for line in range(first, last + 1)]
            for line, after in lines:
                item = index.item_at(number, _offset(text, starts[number], line))
                # What is inserted between two items changes neither of them.
                if line != after and item != index.item_at(number, _offset(text, starts[number], after)):
                    continue
                if item is not None and item != TOP_LEVEL:
                    symbol = index.symbols[item]
                    answer.add((index.files[number], symbol.qualified, symbol.kind))
        answer = {(path, name, kind) for path, name, kind in answer if kind in FUNCTIONS}
        if not FEWEST_CHANGED <= len(answer) <= MOST_ITEMS:
            return "too few or too many functions"
        if any(names_part(edit.message, part) for path, name, _ in answer for part in (*name.split("."), _stem(path))):
            return "the message names the answer"
        items = tuple(sorted(f"{path}: {name}" for path, name, _ in answer))
        return Change(edit.commit, edit.parent, edit.message, items, index.defined_names())


class Greps:
    """Finds the best grep for each change. A file that several changes share is parsed once."""

    def __init__(self, language: Language) -> None:
        self.language = language
        self._known: dict[tuple[str, int], Index] = {}

    def best(self, change: Change, files: Sequence[tuple[str, bytes]]) -> tuple[str, tuple[str, ...]]:
        """Return the word of the message whose grep answers the change best, at the parent commit, and that answer.

        Args:
            files: (path, content) of the files to search, at that commit.
        """
        best: tuple[str, tuple[str, ...]] = "", ()
        for word in sorted(words_to_grep(change.message)):
            answer, is_found = set(), False
            for path, text in files:
                at = text.find(word.encode())
                while at >= 0:
                    is_found = True
                    answer |= self._item(path, text, at)
                    at = text.find(word.encode(), at + len(word))
            if is_found and (not best[0] or f1(change.answer, answer) > f1(change.answer, best[1])):
                best = word, tuple(sorted(answer))
        return best

    def _item(self, path: str, text: bytes, offset: int) -> set[str]:
        key = path, hash(text)
        if key not in self._known:
            self._known[key] = build(self.language, [Source(path, text)], mentions=False)
            self._known[key].texts.clear()
        index = self._known[key]
        item = index.item_at(0, offset) if index.files else None
        return set() if item is None or item == TOP_LEVEL else {f"{path}: {index.symbols[item].qualified}"}


def _split(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield the NUL-separated parts of a stream."""
    held: list[bytes] = []
    while chunk := stream.read(1 << 16):
        first, *more = chunk.split(b"\0")
        held.append(first)
        if more:
            yield b"".join(held)
            yield from more[:-1]
            held = more[-1:]
    yield b"".join(held)


def _offset(text: bytes, starts: list[int], line: int) -> int:
    """Return the offset of a line's text, after its indentation."""
    if line >= len(starts):
        return max(0, len(text) - 1)
    content = text[starts[line - 1] : starts[line]].rstrip()
    return starts[line - 1] + len(content) - len(content.lstrip())


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]

"""Which functions had to change? The parent's tree, a commit's message, and what it touched."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from locobench.derive.code.index import build
from locobench.derive.code.languages import Language
from locobench.derive.code.rows import TOP_LEVEL
from locobench.derive.code.tree import LARGEST_SOURCE, Blob, Repository
from locobench.derive.kinds import MOST_ITEMS
from locobench.shared.errors import InputError

MOST_COMMITS = 3000
"""How far back is looked: older trees often need tools that nobody has any more."""
FEWEST_WORDS, MOST_LINES = 6, 25
"""A message with fewer words names no purpose; a longer one tells more than one."""
MOST_FILES = 6
FEWEST_CHANGED = 2
"""Functions: a single one is a matter of luck."""

# Begins of subjects, and words in them, that tell of something else than a fix or a feature.
_OTHER = re.compile(
    r"^\W*(tests?|docs?|chore|ci|build|style|release|prepare|bump|version|merge|revert|typo|lint|format(ting)?|"
    r"refactor\w*|cleanup|rename\w*|changelog|deps|wip|fixup|squash|update (dep|change|version|read)\w*)\b|"
    r"\b(typos?|rename[sd]?|renaming|move[sd]?|refactor\w*|clean[- ]?up|reformat\w*|whitespace|comments?|readme|"
    r"changelog|documentation|docs?|docstrings?|tests?|merge[sd]?|reverts?|bump|lint\w*|pylint|clippy|mypy|deprecat\w*|"
    r"version|release|copyright|spelling|CI|javadocs?|upgrade[sd]?|dependenc\w+|various|misc\w*|several)\b",
    re.IGNORECASE,
)
_TRAILER = re.compile(
    r"^(signed-off-by|co-authored-by|reviewed-by|change-id|pr-url|cc|git-svn-id|refs?|closes|fixes|see)\b.*$",
    re.I | re.M,
)
_REFERENCE = re.compile(
    r"\s*\(?(?:\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?|refs?|see|pr|issue)s?:?\s+)?(?:[\w.-]+/[\w.-]+)?(?:#|GH-|[A-Z]{2,}-)\d+\)?",
    re.I,
)
# A sentence that has an issue's number for one of its words, or a link.
_LEANING = re.compile(
    r"\b(in|of|by|as|to|for|from|with|see|per|after|since|than|like)\s+(?:[\w.-]+/[\w.-]+)?(?:\(?#\d|GH-\d|https?:)|^\W*$",
    re.I,
)
_LINK = re.compile(r"\S*https?://\S+")
_SECOND_PURPOSE = re.compile(r"^\s*[-*+]\s", re.MULTILINE)
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")


@dataclass(frozen=True)
class Change:
    """A commit that makes a question."""

    commit: str
    parent: str
    message: str
    """Without numbers of issues, links and trailers."""
    answer: tuple[str, ...]
    names: dict[str, list[str]]
    """What the files of the answer define."""

    @property
    def paths(self) -> frozenset[str]:
        """The files in the answer."""
        return frozenset(item.partition(": ")[0] for item in self.answer)

    @property
    def files(self) -> int:
        """Number of files in the answer."""
        return len(self.paths)


@dataclass
class History:
    """Reads a repository's commits, newest first."""

    repository: Repository
    language: Language
    reasons: Counter[str] = field(default_factory=Counter)
    """Why commits make no question, with their numbers."""

    def changes(self, commit: str, most: int) -> Iterator[Change]:
        """Yield at most so many changes that make a question.

        Raises:
            InputError: git cannot read the history.
        """
        found = 0
        for one, parents, message, listed in self._log(commit):
            if found == most:
                return
            change = self._read(one, parents, message, listed)
            if isinstance(change, Change):
                found += 1
                yield change
            else:
                self.reasons[change] += 1

    def _log(self, commit: str) -> Iterator[tuple[str, list[str], str, str]]:
        """Yield id, parents, message and changed files of every commit, from one call of git."""
        pattern = "%x01%H%x00%P%x00%B%x00%x02"
        yield from (
            (one[0], one[1].split(), one[2], one[3])
            for one in self.repository.stream(
                "log", f"--max-count={MOST_COMMITS}", "--topo-order", "--raw", "--no-renames", "--no-abbrev", "-z",
                f"--format={pattern}", commit,
            )
        )  # fmt: skip

    def _read(self, commit: str, parents: list[str], text: str, listed: str) -> Change | str:
        if len(parents) != 1:
            return "a merge, or without a parent"
        message = cleaned(text)
        if reason := unfit(message, text):
            return reason
        changed = _changed(listed)
        if any(status[0] in "DT" for status, *_ in changed):
            return "renames or removes files"
        language = self.language
        code = [
            (status, path, old)
            for status, path, old in changed
            if path.endswith(language.suffixes) and not language.is_test(path)
        ]
        edited = [(path, old) for status, path, old in code if status == "M"]
        if not 1 <= len(code) <= MOST_FILES or not edited:
            return "too few or too many source files"
        try:
            return self._answer(commit, parents[0], message, edited)
        except InputError:
            return "the parent is not in a shallow clone"

    def _answer(self, commit: str, parent: str, message: str, edited: list[tuple[str, str]]) -> Change | str:
        blobs = [Blob(path, old, 0, "") for path, old in edited]
        files = [(blob.path, text) for blob, text in self.repository.contents(blobs) if len(text) <= LARGEST_SOURCE]
        index = build(self.language, files, mentions=False)
        if len(index.files) != len(edited):
            return "in files that cannot be parsed"
        diff = self.repository.git("diff", "-U0", "--no-color", "--no-ext-diff", parent, commit, "--", *index.files)
        answer = set()
        starts = [list(accumulate(map(len, text.splitlines(keepends=True)), initial=0)) for text in index.texts]
        for number, first, last in _old_lines(diff, index.files):
            text = index.texts[number]
            for line in range(first, last + 1):
                item = index.item_at(number, _offset(text, starts[number], line))
                if item is not None and item != TOP_LEVEL:
                    symbol = index.symbols[item]
                    answer.add((index.files[number], symbol.qualified, symbol.kind))
        answer = {(path, name, kind) for path, name, kind in answer if kind in ("function", "method", "constructor")}
        if not FEWEST_CHANGED <= len(answer) <= MOST_ITEMS:
            return "too few or too many functions"
        if any(_names(message, part) for path, name, _ in answer for part in (*name.split("."), _stem(path))):
            return "the message names the answer"
        items = tuple(sorted(f"{path}: {name}" for path, name, _ in answer))
        names = {
            path: sorted(index.symbols[one].qualified for one in index.items_in(n))
            for n, path in enumerate(index.files)
        }
        paths = {path for path, _, _ in answer}
        return Change(commit, parent, message, items, {path: names[path] for path in sorted(paths)})


class Grep(NamedTuple):
    """One grep for a change, by the rarest word of its message that is in the code at all."""

    word: str
    answer: tuple[str, ...]
    hits: int


def grep_for(change: Change, language: Language, files: Sequence[tuple[str, bytes]]) -> Grep:
    """Return what one grep answers at the parent commit.

    Args:
        files: the files that are looked at, at that commit.
    """
    counts: Counter[str] = Counter()
    words = {word for word in _WORD.findall(change.message) if len(word) > 3 and word.lower() not in _PLAIN}
    for word in sorted(words):
        counts[word] = sum(text.count(word.encode()) for _, text in files)
    found = sorted((count, word) for word, count in counts.items() if count)
    if not found:
        return Grep("", (), 0)
    word = found[0][1]
    index = build(language, [(path, text) for path, text in files if word.encode() in text], mentions=False)
    answer = set()
    for number, text in enumerate(index.texts):
        for one in re.finditer(re.escape(word.encode()), text):
            item = index.item_at(number, one.start())
            if item is not None and item != TOP_LEVEL:
                answer.add(f"{index.files[number]}: {index.symbols[item].qualified}")
    return Grep(word, tuple(sorted(answer)), found[0][0])


_PLAIN = frozenset(
    {
        *(
            "this",
            "that",
            "with",
            "from",
            "when",
            "into",
            "than",
            "then",
            "them",
            "they",
            "have",
            "been",
            "were",
            "will",
        ),
        *("would", "should", "could", "also", "only", "more", "most", "some", "such", "make", "makes", "made", "does"),
        *(
            "done",
            "allow",
            "allows",
            "instead",
            "which",
            "where",
            "while",
            "there",
            "their",
            "about",
            "after",
            "before",
        ),
        *("because",),
    }
)
"""Words that nobody greps for."""


def cleaned(text: str) -> str:
    """Return a commit's message without numbers of issues, links and trailers."""
    text = _LINK.sub("", _TRAILER.sub("", text.replace("\r", "")))
    text = _REFERENCE.sub("", text)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in text.splitlines())).strip()


def unfit(message: str, whole: str) -> str:
    """Return why a message makes no question; nothing for one that does.

    Args:
        message: as `cleaned` returns it.
        whole: as it was written.
    """
    subject = message.partition("\n")[0]
    if _OTHER.search(subject):
        return "tests, documents, chores and the like"
    if len(_WORD.findall(message)) < FEWEST_WORDS:
        return "too short a message"
    if _LEANING.search(whole):
        return "leans on what an issue says"
    lines = message.count("\n") + 1
    if lines > MOST_LINES or len(_SECOND_PURPOSE.findall(message)) > 1 or re.search(r"\band\b|;|\+|&", subject):
        return "more than one purpose"
    if any(ord(char) > 0x2FF for char in subject) or "```" in message:
        return "not plain English"
    return ""


def _changed(listed: str) -> list[tuple[str, str, str]]:
    """Read `git diff-tree --raw -z`: status, path and the old content's id."""
    fields = listed.split("\0")
    found, at = [], 0
    while at < len(fields) - 1 and fields[at].startswith(":"):
        _, _, old, _, status = fields[at].split()
        found.append((status, fields[at + 1], old))
        at += 3 if status[0] in "RC" else 2
    return found


def _old_lines(diff: str, files: list[str]) -> Iterator[tuple[int, int, int]]:
    """Yield file number, first and last line of each hunk's old side; an insertion counts to the line before it."""
    number = None
    for line in diff.split("\n"):
        if line.startswith("--- "):
            path = line.removeprefix("--- ").removeprefix("a/").rstrip("\t")
            number = files.index(path) if path in files else None
        elif (found := _HUNK.match(line)) and number is not None:
            start, count = int(found[1]), int(found[2] or 1)
            yield number, max(1, start), max(1, start + count - 1 if count else start)


def _offset(text: bytes, starts: list[int], line: int) -> int:
    """Return where the text of a line begins, behind its indentation."""
    if line >= len(starts):
        return max(0, len(text) - 1)
    content = text[starts[line - 1] : starts[line]].rstrip()
    return starts[line - 1] + len(content) - len(content.lstrip())


def _names(message: str, part: str) -> bool:
    """Whether a message names a part of the answer, in any case, or with something around it that makes it a name."""
    low, name = message.lower(), part.lower()
    if name in {word.lower() for word in _WORD.findall(message)}:
        return True
    codes = [word.lower() for word in _WORD.findall(message) if "_" in word or re.search(r"[a-z][A-Z]", word)]
    return (
        any(len(word) > 4 and len(name) > 4 and (word in name or name in word) for word in codes) or f"{name}(" in low
    )


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]

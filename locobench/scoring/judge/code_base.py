"""Look things up in a project's code: its files and lines, where each word occurs, and the block around a line."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from locobench.reading import WORD, Files, fold
from locobench.scoring.code_index import LARGEST_FILE, LARGEST_PROJECT

LEFT_OUT = frozenset((".git", ".hg", ".svn", "node_modules", "__pycache__"))
# Lines: of the largest block that is shown, and on both sides of a line that is in no such block.
MOST_LINES, AROUND = 45, 5
# A definition is searched for in so many of the lines with a name, and in so much of each line.
MOST_PLACES, LONGEST_LINE = 1200, 300

_KEYWORDS = (
    "class|struct|interface|enum|trait|impl|def|fn|func|function|type|record|namespace|module|mod|union|typedef|define"
    "|const|let|var|static|final|public|private|protected|pub"
)
# A keyword, perhaps the receiver of a Go method, and the name with what may follow it.
_DECLARED = (
    rf"\b(?:{_KEYWORDS})\b(?:\s*\([^)]*\))?[^=;({{]*\b%s\s*(?:[({{:<=;,]|$|extends\b|implements\b|struct\b|for\b)"
)
# `int name(…) {` and `name(…) {`, as C, Java, C# and methods of JavaScript have them.
_FUNCTION = (
    r"\s*(?!(?:if|for|foreach|while|switch|catch|return|else|new|await|throw)\b)[\w<>\[\],:*&~?. ]*\b%s\s*"
    r"\([^;{}()]*(?:\([^;{}()]*\)[^;{}()]*)*\)[^;{}\n]*\s*\{"
)
# A file and a line of it, from 1.
Place = tuple[str, int]


class Code:
    """The text files of a project: their lines, where each word is, and where names are defined."""

    def __init__(self, files: Mapping[str, str]) -> None:
        """Take `files`, a map from path (relative, separated by `/`) to text; of a file that is no text, to ""."""
        self.lines = {path: text.splitlines() for path, text in sorted(files.items())}
        self.files = Files(self.lines)
        self.extensions = {PurePosixPath(path).suffix for path in self.lines} - {""}
        self.endings = {path[n:] for path in self.lines for n in range(len(path)) if n == 0 or path[n - 1] == "/"}
        self.places: defaultdict[str, list[Place]] = defaultdict(list)
        for path, lines in self.lines.items():
            for number, line in enumerate(lines, 1):
                for word in dict.fromkeys(WORD.findall(line)):
                    self.places[word].append((path, number))
        self._spelled: dict[str, str] = {}
        for word in self.places:
            self._spelled.setdefault(fold(word), word)
        self._outlines: dict[str, tuple[list[int], list[int]]] = {}

    @classmethod
    def read(cls, folder: Path) -> Code:
        """List the files below `folder`, without links, and read those that are neither binary nor very large."""
        files: dict[str, str] = {}
        left = LARGEST_PROJECT
        for place, folders, names in os.walk(folder):
            folders[:] = sorted(set(folders) - LEFT_OUT)
            for name in sorted(names):
                path = Path(place, name)
                if path.is_symlink() or not path.is_file():
                    continue
                content = path.read_bytes() if path.stat().st_size <= min(LARGEST_FILE, left) else b"\0"
                text = "" if b"\0" in content[:8192] else content.decode("utf-8", "replace")
                left -= len(text and content)
                files[path.relative_to(folder).as_posix()] = text
        return cls(files)

    def spelled(self, name: str) -> str:
        """Return how the code spells `name`: itself, else another way of joining the same words, else ""."""
        return name if name in self.places else self._spelled.get(fold(name), "") if len(name) > 4 else ""

    def definitions(self, name: str) -> list[Place]:
        """Return where the name seems to be defined."""
        declared, function = (re.compile(pattern % re.escape(name)) for pattern in (_DECLARED, _FUNCTION))
        found = []
        for path, number in self.places.get(name, ())[:MOST_PLACES]:
            lines = [line[:LONGEST_LINE] for line in self.lines[path][number - 1 : number + 3]]
            if declared.search(lines[0]) or function.match("\n".join(lines)):
                found.append((path, number))
        return found

    def block(self, path: str, number: int) -> tuple[int, int]:
        """Return (first, last) of the lines to show for a line: the largest block around it that is small enough."""
        if path not in self._outlines:
            self._outlines[path] = _outline(self.lines[path])
        heads, ends = self._outlines[path]
        first = number
        while (head := heads[first]) and ends[head] - head < MOST_LINES:
            first = head
        last = min(ends[first], first + MOST_LINES - 1)
        if first < last:
            return first, last
        return max(1, number - AROUND), min(len(self.lines[path]), number + AROUND)


def _outline(lines: list[str]) -> tuple[list[int], list[int]]:
    """Return, for every line, the line at the head of the block around it (or 0) and the end of the block it heads.

    Blocks are told by their indentation. A line that begins with a closing bracket, or with the opening one alone,
    belongs to the block above it. Lines are counted from 1.
    """
    heads, ends = [0] * (len(lines) + 1), list(range(len(lines) + 1))
    around: list[tuple[int, int]] = []
    last = 0
    for number, line in enumerate(lines, 1):
        bare = line.strip()
        if bare and not bare.startswith("#"):  # C's preprocessor stands at the margin, wherever it is
            depth = len(line) - len(line.lstrip())
            belongs = bare[0] in "{)}]"
            while around and (around[-1][0] > depth or (around[-1][0] == depth and not belongs)):
                ends[around.pop()[1]] = last
            last = number
        heads[number] = around[-1][1] if around else 0
        if last == number and not (belongs and around):
            around.append((depth, number))
    for _, number in around:
        ends[number] = last
    return heads, ends

"""Look things up in a project's code: its lines, where each word occurs, and where definitions begin and end."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from locobench.reading import NUMBERED, fold
from locobench.scoring.code_index import LARGEST_FILE, LARGEST_PROJECT

LEFT_OUT = frozenset((".git", ".hg", ".svn", "node_modules", "__pycache__"))
# Lines: shown of a function, shown around a line outside functions, and searched upwards for a function's head.
MOST_LINES, AROUND, FARTHEST_HEAD = 45, 3, 80
# A name in more lines than this says nothing about one place.
WIDESPREAD = 60

WORD = re.compile(r"[A-Za-z_$][\w$]*")
_DEFINES = re.compile(
    r"^\s*(?:@\w+\s+)?(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|override|virtual"
    r"|sealed|partial|inline|extern|pub(?:\([\w:]+\))?|unsafe|const|readonly|declare|suspend|open|data)\s+)*"
    r"(?:class|struct|interface|enum|trait|impl|def|fn|func|function|type|record|namespace|module|mod|union|typedef|#define"
    r"|const|let|var|static|public|private|protected)\b"
)
# `int name(…) {` and `name(…) {`, as C, Java, C# and methods of JavaScript have them: no call, no end of statement.
_FUNCTION = re.compile(r"^\s*(?:[\w<>\[\],:*&~?.]+\s+)*[*&~]*[\w:~.$]+\s*\([^;]*$")
_CONTROL = re.compile(
    r"^\s*(?:}?\s*(?:if|else|for|foreach|while|switch|catch|return|elif|with|throw|match|do|try|await)\b|//|#|\*)"
)
# A file and a line of it, from 1.
Place = tuple[str, int]


class Code:
    """The text files of a project: their lines, where each word is, and where names are defined."""

    def __init__(self, files: Mapping[str, str]) -> None:
        """Take `files`, a map from path (relative, separated by `/`) to text."""
        self.lines = {path: text.splitlines() for path, text in sorted(files.items())}
        self.places: defaultdict[str, list[Place]] = defaultdict(list)
        self._spelled: defaultdict[str, set[str]] = defaultdict(set)
        for path, lines in self.lines.items():
            for number, line in enumerate(lines, 1):
                for word in dict.fromkeys(WORD.findall(line)):
                    self.places[word].append((path, number))
        for word in self.places:
            self._spelled[fold(word)].add(word)
        self._ends: defaultdict[str, set[str]] = defaultdict(set)
        for path in self.lines:
            parts = path.split("/")
            for start in range(len(parts)):
                self._ends["/".join(parts[start:])].add(path)
            stem = parts[-1].partition(".")[0]
            if NUMBERED.fullmatch(stem):
                self._ends[stem].add(path)
        self.extensions = {PurePosixPath(path).suffix for path in self.lines} - {""}

    @classmethod
    def read(cls, folder: Path) -> Code:
        """Read the text files below `folder`; links are not followed, binary and very large files are left out."""
        files: dict[str, str] = {}
        left = LARGEST_PROJECT
        for place, folders, names in os.walk(folder):
            folders[:] = sorted(set(folders) - LEFT_OUT)
            for name in sorted(names):
                path = Path(place, name)
                if path.is_symlink() or not path.is_file() or path.stat().st_size > min(LARGEST_FILE, left):
                    continue
                content = path.read_bytes()
                if b"\0" not in content[:8192]:
                    left -= len(content)
                    files[path.relative_to(folder).as_posix()] = content.decode("utf-8", "replace")
        return cls(files)

    def files_named(self, name: str) -> list[str]:
        """Return the paths that end in `name`, which may begin with folders above the project.

        Numbered files need no extension: `module_7` names `src/module_7.c`.
        """
        parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".")]
        for start in range(len(parts)):
            found = self._ends.get("/".join(parts[start:]))
            if found and (start == 0 or "/".join(parts[:start]) in ("app/project", "project", "app", "a", "b")):
                return sorted(found)
        return []

    def spelled(self, name: str) -> list[str]:
        """Return how the code spells `name`: itself, else other ways of joining the same words."""
        if name in self.places:
            return [name]
        return sorted(self._spelled.get(fold(name), ())) if len(name) > 4 else []

    def definitions(self, name: str) -> list[Place]:
        """Return the (path, line number) where the name seems to be defined."""
        found = []
        for path, number in self.places.get(name, ())[: 20 * WIDESPREAD]:
            line = self.lines[path][number - 1]
            head = line.split("=", 1)[0] if _DEFINES.match(line) else line
            if (_DEFINES.match(line) and _follows_keyword(head, name)) or (
                _FUNCTION.match(line)
                and not _CONTROL.match(line)
                and re.search(rf"\b{re.escape(name)}\s*\(", line)
                and self._opens(path, number)
            ):
                found.append((path, number))
        return found

    def _opens(self, path: str, number: int) -> bool:
        """Return whether a block begins in this line or the next three."""
        for line in self.lines[path][number - 1 : number + 3]:
            bare = line.rstrip()
            if bare.endswith((";", "};")) and "{" not in bare:
                return False
            if "{" in bare or bare.endswith(":"):
                return True
        return False

    def block(self, path: str, number: int, most: int = MOST_LINES) -> tuple[int, int]:
        """Return (first, last) line of the definition in this line, judging by its indentation."""
        lines = self.lines[path]
        depth = _depth(lines[number - 1])
        last = number
        for place in range(number, min(len(lines), number + most)):
            bare = lines[place].strip()
            if bare and _depth(lines[place]) <= depth and bare[0] not in "{)":
                return number, place + 1 if bare[0] in "}]" or bare.startswith("end") else last
            if bare:
                last = place + 1
        return number, last

    def around(self, path: str, number: int) -> tuple[int, int]:
        """Return (first, last) line of the function around a line, or of the lines around it."""
        lines = self.lines[path]
        depth = _depth(lines[number - 1])
        for place in range(number - 1, max(0, number - FARTHEST_HEAD) - 1, -1):
            line = lines[place]
            if line.strip() and (_depth(line) < depth or place == number - 1):
                depth = min(depth, _depth(line))
                if (_DEFINES.match(line) and re.search(r"[({:]", line)) or (
                    _FUNCTION.match(line) and not _CONTROL.match(line) and self._opens(path, place + 1)
                ):
                    first, last = self.block(path, place + 1)
                    if first <= number <= last:
                        return first, last
                    break
        return max(1, number - AROUND), min(len(lines), number + AROUND)


def _depth(line: str) -> int:
    return len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip())


def _follows_keyword(head: str, name: str) -> bool:
    """Tell whether the name is what the line defines: the last word before `(`, `{`, `:`, `<` or the end."""
    match = re.search(rf"\b{re.escape(name)}\b", head)
    if not match:
        return False
    after = head[match.end() :].lstrip()
    return (
        not after
        or after[0] in "({:<;,="
        or after.split()[0] in ("extends", "implements", "struct", "interface", "where", "for")
    )

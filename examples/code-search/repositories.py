"""What is in the mirrored repositories? Listing, searching and reading them, as bounded text.

The folder is one that `run_adapter.py --mirror_repos` wrote. Its files are listed once, at the start: they do not
change while agents run. Every answer is text in ripgrep's form, at most MAX_CHARACTERS of it.
"""

from __future__ import annotations

import fnmatch
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import re2  # type: ignore[import-untyped]

INDEX_FILE = "projects_to_index.json"

MAX_CHARACTERS = 30_000
"""Of one answer: what is longer pushes the task out of an agent's context."""
MAX_LINE = 300
"""Characters of a line; minified code has lines of a megabyte."""
MAX_MATCHES = 200
MAX_CONTEXT = 10
MAX_LINES = 500
"""Lines that one reading returns."""
MAX_FILE_BYTES = 5_000_000
"""A larger file is data, no source."""
SECONDS = 10.0
"""After which a search returns what it has."""


class SetupError(Exception):
    """The folder cannot be served; the message says which, why and what to do."""


class RequestError(Exception):
    """What an agent asked for cannot be given; the message tells it what to ask instead."""


@dataclass(frozen=True)
class Repository:
    """One project: its name, its language, its folder, and the paths of its files below that, sorted."""

    name: str
    language: str
    root: Path
    files: tuple[str, ...]

    def read(self, path: str) -> str | None:
        """Return the text of one of its files, or None where that is binary, too large or gone."""
        try:
            with (self.root / path).open("rb") as stream:
                content = stream.read(MAX_FILE_BYTES + 1)
        except OSError:
            return None
        if len(content) > MAX_FILE_BYTES or b"\0" in content:
            return None
        return content.decode(errors="replace")


class Repositories:
    """The repositories of a folder, by name."""

    def __init__(self, repositories: dict[str, Repository]) -> None:
        self._repositories = repositories

    def __len__(self) -> int:
        return len(self._repositories)

    @property
    def files_count(self) -> int:
        return sum(len(repository.files) for repository in self._repositories.values())

    @classmethod
    def load(cls, folder: Path) -> Repositories:
        """List the repositories that the index of `folder` names.

        Raises:
            SetupError: there is no such index, or a repository that it names is not there.
        """
        index = folder / INDEX_FILE
        try:
            entries = [(str(entry["path"]), str(entry["language"])) for entry in json.loads(index.read_bytes())]
        except OSError as error:
            reason = f"{error.strerror}; name a folder that run_adapter.py --mirror_repos wrote"
            raise SetupError(f"{index}: {reason}") from None
        except (ValueError, KeyError, TypeError):
            reason = "not an index; write it again with run_adapter.py --mirror_repos"
            raise SetupError(f"{index}: {reason}") from None
        repositories = {}
        for name, language in entries:
            root = folder / name
            if name in ("", "..") or Path(name).name != name or root.is_symlink() or not root.is_dir():
                raise SetupError(f"{index}: {name!r} is no folder beside it; run run_adapter.py --mirror_repos again")
            repositories[name] = Repository(name, language, root, tuple(sorted(_files(root))))
        return cls(repositories)

    def list_repos(self, path: str = "") -> str:
        """Return a line for each repository, or for each that has a file matching the glob `path`."""
        found = [
            f"{repository.name}  {repository.language}, {len(repository.files)} files"
            for repository in self._repositories.values()
            if not path or any(_matches(file, path) for file in repository.files)
        ]
        if not found:
            raise RequestError(f"no repository has a file that matches {path!r}")
        return _bounded(found, "name a path to see fewer repositories")

    def search(
        self,
        pattern: str,
        *,
        repo: str = "",
        path: str = "",
        literal: bool = False,
        ignore_case: bool = False,
        context: int = 0,
        limit: int = 50,
    ) -> str:
        """Return the lines that match, as `repository/path:line:text`, their context as `repository/path-line-text`.

        Args:
            pattern: A regular expression in RE2's syntax; it is matched within lines.
            repo: The only repository to search, "" for all.
            path: A glob that the files' paths match, "" for all.
            literal: Take the pattern as plain text.
            ignore_case: Take upper and lower case as the same.
            context: Lines to show before and after each match, 0 to MAX_CONTEXT.
            limit: Matching lines to return at most, 1 to MAX_MATCHES.

        Raises:
            RequestError: the pattern is none, a number is out of range, or nothing is left to search.
        """
        _check(context, 0, MAX_CONTEXT, "context")
        _check(limit, 1, MAX_MATCHES, "limit")
        expression = _compile(pattern, literal=literal, ignore_case=ignore_case)
        searched = [self._named(repo)] if repo else list(self._repositories.values())
        started, matches, hit_files, shown = time.monotonic(), 0, 0, list[str]()
        candidates = [(r, f) for r in searched for f in r.files if not path or _matches(f, path)]
        if not candidates:
            raise RequestError(f"no file matches the path {path!r}; list_repos takes a path too")
        stopped = ""
        for repository, file in candidates:
            if time.monotonic() - started > SECONDS:
                stopped = f"; stopped after {SECONDS:g} s, name a repo or a path"
                break
            text = repository.read(file)
            if text is None or not (numbers := list(_matching_lines(expression, text, limit - matches + 1))):
                continue
            if matches + len(numbers) > limit:
                stopped = f"; there are more than the limit of {limit}, narrow the search"
                numbers = numbers[: limit - matches]
            if numbers:
                matches, hit_files = matches + len(numbers), hit_files + 1
                shown += _excerpt(f"{repository.name}/{file}", _lines(text), numbers, context)
            if stopped:
                break
        if not matches:
            return f"no match in {len(candidates)} files{stopped}"
        return _bounded([f"{matches} matching lines in {hit_files} files{stopped}", *shown], "narrow the search")

    def read_file(self, repo: str, path: str, first: int = 1, last: int | None = None) -> str:
        """Return lines of a file with their numbers.

        Args:
            repo: Its repository.
            path: Its path there.
            first: Number of the first line, from 1.
            last: Number of the last one; None for MAX_LINES lines. More than these are not returned.

        Raises:
            RequestError: there is no such repository, file or line, or it is no text.
        """
        repository = self._named(repo)
        # Only what was listed is opened, so no path leads out of the repository.
        if path not in repository.files:
            alike = [file for file in repository.files if Path(file).name == Path(path).name]
            hint = f"there is {', '.join(alike[:5])}" if alike else "search shows paths"
            raise RequestError(f"no file {path!r} in {repo}; {hint}")
        text = repository.read(path)
        if text is None:
            raise RequestError(f"{repo}/{path} is no text, or larger than {MAX_FILE_BYTES:,} bytes")
        lines = _lines(text)
        _check(first, 1, len(lines), "first")
        last = first + MAX_LINES - 1 if last is None else last
        if last < first:
            raise RequestError(f"last is {last}, before first ({first})")
        last = min(last, first + MAX_LINES - 1, len(lines))
        head = f"{repo}/{path}, lines {first} to {last} of {len(lines)}"
        body = [f"{number}\t{_cut(lines[number - 1])}" for number in range(first, last + 1)]
        return _bounded([head, *body], "ask for fewer lines")

    def _named(self, repo: str) -> Repository:
        if repo not in self._repositories:
            raise RequestError(f"no repository {repo!r}; list_repos names them")
        return self._repositories[repo]


def _files(root: Path) -> Iterator[str]:
    """Yield the paths of the regular files below `root`; links are not followed, .git is left out."""
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name != ".git"]
        for name in files:
            path = Path(folder, name)
            if path.is_file() and not path.is_symlink():
                yield path.relative_to(root).as_posix()


def _matches(path: str, glob: str) -> bool:
    """Tell whether a path is meant by a glob: `*.py` anywhere, `src/` all below; `*` crosses folders."""
    glob = glob.removeprefix("./")
    if glob.endswith("/"):
        glob += "*"
    subject = path if "/" in glob else path.rpartition("/")[2]
    return any(fnmatch.fnmatchcase(subject, form) for form in {glob, glob.replace("**/", "")}) or path == glob


def _compile(pattern: str, *, literal: bool, ignore_case: bool) -> re2._Regexp:
    """Compile a pattern of an agent's. RE2 takes linear time: no pattern can stall a server that all trials share."""
    options = re2.Options()
    options.log_errors = False
    options.never_nl = True
    options.literal = literal
    options.case_sensitive = not ignore_case
    if not pattern:
        raise RequestError("pattern is empty")
    source = pattern if literal else f"(?m:{pattern})"
    try:
        return re2.compile(source.encode(errors="replace"), options)
    except re2.error as error:
        (reason,) = error.args
        told = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        advice = "RE2 has no look-around; literal=true takes plain text"
        raise RequestError(f"not a regular expression: {told} ({advice})") from None


def _matching_lines(expression: re2._Regexp, text: str, most: int) -> Iterator[int]:
    """Yield the numbers (from 0) of at most `most` lines that match."""
    content = text.encode(errors="replace")
    position = line = counted_to = 0
    for _ in range(most):
        match = expression.search(content, position)
        if match is None or (match.start() == len(content) and content.endswith(b"\n")):
            return
        line += content.count(b"\n", counted_to, match.start())
        counted_to = match.start()
        yield line
        end = content.find(b"\n", match.start())
        if end < 0:
            return
        position = end + 1


def _excerpt(name: str, lines: list[str], numbers: list[int], context: int) -> Iterator[str]:
    """Yield the matching lines with their context; "--" stands between groups, as grep has it."""
    matching, previous = set(numbers), -1
    wanted = {n for number in numbers for n in range(number - context, number + context + 1) if 0 <= n < len(lines)}
    for number in sorted(wanted):
        if context and previous >= 0 and number > previous + 1:
            yield "--"
        mark = ":" if number in matching else "-"
        yield f"{name}{mark}{number + 1}{mark}{_cut(lines[number])}"
        previous = number


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n")


def _cut(line: str) -> str:
    line = line.rstrip("\r")
    return line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]} [... {len(line) - MAX_LINE} more characters]"


def _bounded(lines: list[str], advice: str) -> str:
    """Join lines, up to MAX_CHARACTERS; where that is not all, a last line says so with an advice."""
    size = 0
    for count, line in enumerate(lines):
        size += len(line) + 1
        if size > MAX_CHARACTERS:
            return "\n".join([*lines[:count], f"[{len(lines) - count} more lines; {advice}]"])
    return "\n".join(lines)


def _check(value: int, least: int, most: int, name: str) -> None:
    if not least <= value <= most:
        raise RequestError(f"{name} is {value}; it goes from {least} to {most}")

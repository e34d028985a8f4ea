"""Which functions did a commit change? By the languages' own parsers, which share nothing with the derivation.

`python -m tests.e2e.resolvers.changed REPOS [NAME...]` prints how many keys are the same, of all commits whatever their
messages say: REPOS holds checkouts.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from locobench.derive import history
from locobench.derive.code.languages import LANGUAGES
from locobench.derive.code.tree import Repository
from tests.e2e.resolvers.facts import HERE, MODULES, tool

_FOLDERS = r"/(__)?(tests?|testing|specs?|testdata|fixtures?|mocks?|benchmarks?|benches|bench)(__)?/"
_BUILT = r"|/(vendor|third_party|node_modules|dist)/|\.d\.ts$|\.min\.js$|\.pb\.go$"
LEFT_OUT = {
    "python": _FOLDERS + r"|/(test_[^/]*|[^/]*_test|conftest)\.py$",
    "go": r"_test\.go$|/testdata/",
    "java": _FOLDERS + r"|/src/test/|Tests?\.java$",
    "javascript": _FOLDERS + r"|[._-](test|spec)\.[cm]?jsx?$",
    "typescript": _FOLDERS + r"|[._-](test|spec|test-d|bench)\.[cm]?tsx?$|/runtime-tests/|/[^/]*-tests?/",
}
"""Language -> the paths of files that no question is about."""
SUFFIX = {
    "python": r"\.py$",
    "go": r"\.go$",
    "java": r"\.java$",
    "javascript": r"\.[cm]?jsx?$",
    "typescript": r"\.[cm]?tsx?$",
}
REPOSITORIES = {
    "click": "python", "gin": "go", "commons-cli": "java", "express": "javascript", "hono": "typescript",
}  # fmt: skip

Functions = dict[str, Counter[str]]
"""Name -> the code of each of its definitions, without comments and blanks."""


def git(repository: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", "-C", repository, *arguments], capture_output=True, check=True).stdout


def children(repository: Path) -> dict[str, list[str]]:
    """Return the commits without other parents by their parent."""
    found: dict[str, list[str]] = defaultdict(list)
    for line in git(repository, "log", "--format=%H %P").decode().splitlines():
        commit, *parents = line.split()
        if len(parents) == 1:
            found[parents[0]].append(commit)
    return found


def changed_functions(repository: Path, commits: Iterable[str], language: str) -> dict[str, set[str]]:
    """Return the functions of its parent whose code each commit changed or removed, as `path: Qualified.name`."""
    found: dict[str, set[str]] = {commit: set() for commit in commits}
    edits = []
    for commit in found:
        entries = git(repository, "diff-tree", "-r", "--no-renames", "--no-abbrev", "--no-commit-id", "-z", commit)
        fields = entries.decode().split("\0")[:-1]
        for entry, path in zip(fields[::2], fields[1::2], strict=True):
            _, _, *blobs, status = entry.split()
            is_code = re.search(SUFFIX[language], path) and not re.search(LEFT_OUT[language] + _BUILT, "/" + path)
            if status == "M" and is_code:
                edits.append((commit, path, [blob + Path(path).suffix for blob in blobs]))
    with TemporaryDirectory() as folder:
        for name in {name for _, _, names in edits for name in names}:
            Path(folder, name).write_bytes(git(repository, "cat-file", "blob", name.partition(".")[0]))
        functions = _functions(language, sorted(Path(folder).iterdir()))
    for commit, path, (old, new) in edits:
        before, after = functions[old], functions[new]
        found[commit] |= {f"{path}: {name}" for name in before if before[name] - after.get(name, Counter())}
    return found


def _functions(language: str, files: list[Path]) -> dict[str, Functions]:
    """Return the functions that are in no other one, by the files' names."""
    if language == "python":
        return {file.name: _of_python(file.read_bytes()) for file in files}
    if language == "go":
        command = [str(tool("go")), "run", str(HERE / "changed.go"), str(HERE / "receiver.go")]
    elif language == "java":
        command = ["java", str(HERE / "Changed.java")]
    else:
        command = ["node", str(HERE / "changed.js"), str(MODULES)]
    lines = "".join(f"{file}\n" for file in files)
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True, env=os.environ)
    found: dict[str, Functions] = {file.name: defaultdict(Counter) for file in files}
    for line in done.stdout.splitlines():
        file, name, code = json.loads(line)
        found[Path(file).name][name][code] += 1
    return found


def _of_python(text: bytes) -> Functions:
    found: Functions = defaultdict(Counter)

    def walk(node: ast.AST, owner: str) -> None:
        for one in ast.iter_child_nodes(node):
            name = f"{owner}{getattr(one, 'name', '')}"
            if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
                found[name][ast.dump(_without_docstrings(one))] += 1
            elif not isinstance(one, ast.expr):
                walk(one, f"{name}." if isinstance(one, ast.ClassDef) else owner)

    walk(ast.parse(text), "")
    return found


def _without_docstrings(function: ast.AST) -> ast.AST:
    for node in ast.walk(function):
        if isinstance(body := getattr(node, "body", None), list):
            body[:] = [one for one in body if not _is_string(one)]
    return function


def _is_string(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def check(root: Path, language: str) -> tuple[int, int, list[str]]:
    """Return the number of keys of the history and of their items, and how keys differ from what the parser says.

    The key of every commit whose files are suitable, with one function or more, whatever its message says.
    """
    every: dict[str, Any] = {
        "why_unfit": lambda *_: "",
        "names_part": lambda *_: False,
        "is_about": lambda *_: True,
        "FEWEST_CHANGED": 1,
    }
    with patch.multiple(history, **every):
        changes = history.History(repository := Repository(root), LANGUAGES[language]).changes(repository.commit())
        keys = {one.commit: {*one.answer} for one in changes}
    right = changed_functions(root, keys, language)
    differences = [f"{commit}: {sorted(key ^ right[commit])}" for commit, key in keys.items() if key != right[commit]]
    return len(keys), sum(map(len, keys.values())), differences


if __name__ == "__main__":
    print("| language | repository | keys | items | the same |\n|---|---|---|---|---|")
    for name in sys.argv[2:] or REPOSITORIES:
        keys, items, differences = check(Path(sys.argv[1], name), REPOSITORIES[name])
        print(f"| {LANGUAGES[REPOSITORIES[name]].title} | {name} | {keys} | {items} | {keys - len(differences)} |")
        print("".join(f"{one}\n" for one in differences), end="", file=sys.stderr)

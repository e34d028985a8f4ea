"""Which functions did a commit change? By Python's own parser, which shares nothing with the derivation."""

from __future__ import annotations

import ast
import re
import subprocess
from collections import defaultdict
from pathlib import Path

TESTS = re.compile(r"/tests?/|/(test_[^/]*|[^/]*_test|conftest)\.py$")


def git(repository: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", repository, *arguments], capture_output=True, check=True)
    return done.stdout.decode(errors="replace")


def children(repository: Path) -> dict[str, list[str]]:
    """Return the commits without other parents by their parent."""
    found: dict[str, list[str]] = defaultdict(list)
    for line in git(repository, "log", "--format=%H %P").splitlines():
        commit, *parents = line.split()
        if len(parents) == 1:
            found[parents[0]].append(commit)
    return found


def changed_functions(repository: Path, commit: str) -> set[str]:
    """Return the functions of the parent whose code a commit changed or removed, as `path: Qualified.name`."""
    found = set()
    for line in git(repository, "diff-tree", "-r", "--name-status", "--no-commit-id", commit).splitlines():
        status, path = line.split("\t", 1)
        if status == "M" and path.endswith(".py") and not TESTS.search("/" + path):
            before, after = (_functions(git(repository, "show", f"{at}:{path}")) for at in (f"{commit}^", commit))
            found |= {f"{path}: {name}" for name, code in before.items() if code != after.get(name)}
    return found


def _functions(text: str) -> dict[str, list[str]]:
    """Return the code of each function that is in no other, without docstrings; an entry for each definition."""
    found: dict[str, list[str]] = defaultdict(list)

    def walk(node: ast.AST, owner: str) -> None:
        for one in ast.iter_child_nodes(node):
            name = f"{owner}{getattr(one, 'name', '')}"
            if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
                found[name].append(ast.dump(_without_docstrings(one)))
            elif not isinstance(one, ast.expr):
                walk(one, f"{name}." if isinstance(one, ast.ClassDef) else owner)

    walk(ast.parse(text), "")
    return dict(found)


def _without_docstrings(function: ast.AST) -> ast.AST:
    for node in ast.walk(function):
        if isinstance(body := getattr(node, "body", None), list):
            body[:] = [one for one in body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
    return function

"""Score an answer that is a list of places in the code: `verify.py [ROOT]`.

The answer is the last fenced block labelled `answer`, one `path: Qualified.name` a line. It is compared with the key's
items. Standard library only, Python 3.9 and newer: goes into a task's tests as verify.py, with locobench/reading.py
beside it.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from locobench.reading import grade

# A list of everything is no answer: of a longer one only the beginning counts.
LINES_PER_ITEM, MORE_LINES = 3, 10
# Recall's weight against precision's: other places than those of the real fix may be right as well.
BETA = {"f1": 1.0, "f2": 2.0}
TOP_LEVEL = "<top level>"

FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})\s*([^`\n]*)$")
BULLET = re.compile(r"^(?:[-*+]|\d+[.)])\s+")
ROOTS = re.compile(r"^(?:[a-z]:)?/app/project/|^(?:\./)+", re.IGNORECASE)
# A path ends before the first `:`, `#` or `->` that a name may follow; a drive's colon is gone by then.
SPLIT = re.compile(r"^(.*?)\s*(?:::|:|#|->|=>)\s*(.*)$")
SEPARATORS = re.compile(r"::|#|->|\\|/|\$")
ARGUMENTS = re.compile(r"<[^<>]*>|\([^()]*\)")
CONSTRUCTORS = ("__init__", "constructor", "__construct", "new")


def answer_lines(text: str) -> list[str]:
    """Return the lines of the last block labelled `answer`; none where there is no such block."""
    lines: list[str] = []
    fence, inside = "", False
    for line in text.splitlines():
        found = FENCE.match(line)
        if not fence:
            if found:
                fence = found.group(1)
                inside = found.group(2).strip().lower() == "answer"
                if inside:
                    lines = []
        elif found and found.group(1).startswith(fence) and not found.group(2).strip():
            fence, inside = "", False
        elif inside:
            lines.append(line)
    return [line.strip() for line in lines if line.strip()]


def read_path(text: str) -> str:
    """Return a path below the project, however it was written."""
    path = ROOTS.sub("", text.strip().strip("`'\"").replace("\\", "/"))
    return ROOTS.sub("", path).strip("/")


def read_name(text: str) -> str:
    """Return a name as the key has it: `.` between its parts, nothing of arguments and decoration."""
    name = text.strip().strip("`'\"").strip()
    if re.sub(r"[\W_]", "", name).lower() in ("toplevel", "module", "modulelevel", "filelevel"):
        return TOP_LEVEL
    before = ""
    while before != name:
        before, name = name, ARGUMENTS.sub("", name)
    name = SEPARATORS.sub(".", name.strip().rstrip(";:,"))
    parts = [part for part in name.split(".") if part]
    if len(parts) > 1 and parts[-1] in CONSTRUCTORS:
        parts[-1] = parts[-2]
    return ".".join(parts)


def read_line(line: str) -> tuple[str, str]:
    """Return the path and the name of a line; the name is empty where there is none."""
    line = BULLET.sub("", line).strip().strip("`").replace("`", "")
    line = re.sub(r"^[A-Za-z]:(?=[\\/])", "", line)
    found = SPLIT.match(line)
    if not found:
        return read_path(line), ""
    return read_path(found.group(1)), read_name(found.group(2))


def resolve(path: str, name: str, names: Mapping[str, Sequence[str]]) -> str:
    """Return the item that a line means: `path: Qualified.name`, or the path alone.

    Args:
        names: the names that each file of the answer defines.
    """
    if not name:
        return path
    known = names.get(path, [])
    read = [read_name(one) for one in known]
    if name in read:
        return f"{path}: {name}"
    # A bare name counts where its file has one such; a longer one where it ends like one: packages, namespaces.
    short = [one for one in read if one.endswith("." + name)]
    long = [one for one in read if name.endswith("." + one)]
    for found in (sorted(set(short)), sorted(set(long), key=len)[-1:]):
        if len(found) == 1:
            return f"{path}: {found[0]}"
    return f"{path}: {name}"


def stored(item: str) -> str:
    """Return an item of the key as `resolve` returns it."""
    path, colon, name = item.partition(": ")
    return f"{path}: {read_name(name)}" if colon else path


def read_items(text: str, key: Mapping[str, Any]) -> list[str]:
    """Return the items that an answer names, without repetitions, in their order."""
    most = LINES_PER_ITEM * len(key["items"]) + MORE_LINES
    items = set(map(stored, key["items"]))
    found: list[str] = []
    for line in answer_lines(text)[:most]:
        path, name = read_line(line)
        item = resolve(path, name, key["names"])
        # A constructor may be called by its class's name alone.
        last = name.rpartition(".")[2]
        if item not in items and name and f"{path}: {name}.{last}" in items:
            item = f"{path}: {name}.{last}"
        if item not in found:
            found.append(item)
    return found


def f_score(truth: set[str], found: set[str], beta: float) -> tuple[float, float, float]:
    """Return precision, recall and F-beta of two sets, each 0 to 1."""
    common = len(truth & found)
    precision = common / len(found) if found else 0.0
    recall = common / len(truth) if truth else 0.0
    weight = beta * beta
    total = weight * precision + recall
    return precision, recall, (1 + weight) * precision * recall / total if total else 0.0


def is_path(found: list[str], key: Mapping[str, Any]) -> bool:
    """Return whether the items are a path: from the first of the key's to its last, each step one of its edges."""
    if len(found) < 2 or found[0] != stored(key["items"][0]) or found[-1] != stored(key["items"][-1]):
        return False
    edges = {(stored(a), stored(b)) for a, b in key["edges"]}
    return all(step in edges for step in zip(found, found[1:]))


def score(answer: str, key: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metrics of `answer`: `reward` (0-1), and what it missed and named wrongly."""
    found = read_items(answer, key)
    truth = list(map(stored, key["items"]))
    precision, recall, reward = f_score(set(truth), set(found), BETA.get(key["measure"], 1.0))
    if key["measure"] == "path":
        reward = 1.0 if is_path(found, key) else 0.0
    files = [{item.partition(": ")[0] for item in items} for items in (truth, found)]
    by_file = f_score(files[0], files[1], 1.0)[2]
    return {
        "reward": round(reward, 6),
        "components": {key["measure"]: round(reward, 6)},
        "precision": round(precision, 6),
        "recall": round(recall, 6),
        "file_f1": round(by_file, 6),
        "missed": [item for item in truth if item not in found],
        "wrong": [item for item in found if item not in truth],
    }


if __name__ == "__main__":
    grade(score, sys.argv[1] if len(sys.argv) > 1 else "")

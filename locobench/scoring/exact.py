"""Score an answer that is a list of places in the code: `verify.py [ROOT]`.

The answer is the last fenced block labelled `answer`, one `path: Qualified.name` a line, however a model dresses it
(docs/ANSWER_FORMATS.md). It is compared with the key's items. Standard library only, Python 3.9 and newer: goes into a
task's tests as verify.py, with locobench/reading.py beside it.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from locobench.reading import grade

# A list of everything is no answer: of a longer one only the beginning counts.
READ_PER_ITEM, READ_MORE = 3, 10
# Characters of a line that are read.
LONGEST_LINE = 1000
# Recall's weight against precision's: other places than those of the real fix may be right as well.
BETA = {"f1": 1.0, "f2": 2.0}
TOP_LEVEL = "<top level>"

FENCE = re.compile(r"^[ \t>]*(`{3,}|~{3,})\s*([^`\n]*)$")
# What Markdown and JSON put around an item: bullets, numbers, boxes, rows; code spans, quotes, bold type, links.
BULLET = re.compile(r"^(?:[-*+•|#>\s]|\d+[.)](?=\s)|\[[ x]\])+", re.IGNORECASE)
DRESS = re.compile(r"[`\"'\[\]]|\*\*|(?<=\])\([^()\s]*\)")
ROOTS = re.compile(r"(?<![\w./])(?:(?:[a-z]:)?/app/project/|(?:\./)+)", re.IGNORECASE)
# Where in the file: `:12`, `:12:5`, `#L12-L20`, ` (line 12)`.
PLACE = re.compile(r"^\W*(?:lines?|l)?\s*\d+(?:\s*[-\u2013:,]\s*l?\d+)*\)?(?!\w)", re.IGNORECASE)
# Between a path and a name.
BETWEEN = re.compile(r"^(?:[\s:#|>=,;.\u2013\u2014→-]|\((?=[\w$<]))+")
LABEL = re.compile(r"^\W*(?:in|files?|paths?|modules?)?\W*$", re.IGNORECASE)
TOP = re.compile(r"^\W*(?:(?:top|module|file)[\s_-]*(?:level|scope)\b|module(?:[>)]|\W*$))", re.IGNORECASE)
# Go's receiver: `(*Orders).place`, `func (o *Orders) place`.
RECEIVER = re.compile(r"^(?:func\s*)?\((?:\w+\s+)?\*?(\w+)[^()]*\)[\s.]*(?=\w)")
ARGUMENTS, GENERICS = re.compile(r"\([^()]*\)"), re.compile(r"<[^<>]*>")
# Of a name: `Pool[T]`, `Hono<E, S>`. Not `<top level>`, and no link.
BRACKETS, ANGLES = re.compile(r"(?<=\w)\[[^\[\]]*\]"), re.compile(r"(?<=\w)<[^<>]*>")
# What is said about a name stands behind a mark.
REMARK = re.compile(r"\s+[^\w\s~$].*|[:;]\s.*|:\d.*|\(.*")
KEYWORDS = re.compile(
    r"^(?:(?:abstract|async|class|const|constructor|def|default|enum|export|final|fn|func|function|impl|inline|interface"
    r"|let|method|override|private|protected|pub|public|record|static|struct|trait|type|var|virtual|void)\s+)+(?=[\w$~])"
)
SEPARATORS = re.compile(r"::|#|->|\\|/|\$")
CONSTRUCTORS = ("__init__", "constructor", "__construct", "new")


def answer_lines(text: str) -> list[str]:
    """Return the lines of the last block labelled `answer`, or of the JSON in it; none where there is no such block."""
    lines: list[str] = []
    fence = ""
    for line in text.splitlines():
        mark = FENCE.match(line)
        if mark and mark[2].strip(" :").lower() == "answer":
            lines, fence = [], mark[1]
        elif mark and fence and mark[1].startswith(fence) and not mark[2].strip():
            fence = ""
        elif fence:
            lines.append(line)
    try:
        return list(json_lines(json.loads("\n".join(lines))))
    except (ValueError, RecursionError):
        return lines


def json_lines(value: Any, path: str = "") -> Iterator[str]:
    """Yield a line for each text of a JSON answer, behind the path under which it stands, and for each object."""
    if isinstance(value, str):
        yield f"{path}: {value}" if path else value
    elif isinstance(value, list):
        for one in value:
            yield from json_lines(one, path)
    elif isinstance(value, dict):
        texts = [text for text in value.values() if isinstance(text, str)]
        yield ": ".join(texts[:2])
        for name, more in value.items():
            if not isinstance(more, str):
                yield from json_lines(more, name if "." in name else (texts or [path])[0])


def without(pattern: re.Pattern[str], text: str) -> str:
    """Return the text without what a pattern matches, nor what it matches then."""
    before = ""
    while before != text:
        before, text = text, pattern.sub("", text)
    return text


def read_name(text: str) -> str:
    """Return a name as the key has it: `.` between its parts, nothing of arguments, keywords and remarks."""
    text = RECEIVER.sub(r"\1.", DRESS.sub("", without(BRACKETS, text)))
    if TOP.match(text):
        return TOP_LEVEL
    text = without(GENERICS, text)
    head = text.partition("(")[0]
    if head != text and not head.endswith(" ") and head.strip():
        words = head.split()[-1:]  # In `public int place(…` the name is what the arguments follow.
    else:
        words = REMARK.sub("", KEYWORDS.sub("", text)).split()
    # `char *copy(…` and `*node.add` are of pointers.
    word = "".join(words[:1]).lstrip("*&").rstrip(";:,)")
    parts = [part for part in SEPARATORS.sub(".", word).split(".") if part]
    if len(parts) > 1 and parts[-1] in CONSTRUCTORS:
        parts[-1] = parts[-2]
    return ".".join(parts)


def read_names(text: str) -> list[str]:
    """Return the names behind a path: one, or several between commas."""
    several = re.split(r",\s*", ARGUMENTS.sub("", without(ANGLES, without(BRACKETS, text))))
    return list(map(read_name, several if all(len(one.split()) == 1 or TOP.match(one) for one in several) else [text]))


def normalize(item: str) -> str:
    """Return an item of the key as `read_items` returns it."""
    path, colon, name = item.partition(": ")
    return f"{path}: {read_name(name)}" if colon else path


def is_constructor(name: str) -> bool:
    """Return whether a name, as read, is a constructor's: it ends in its class's name twice."""
    return name.split(".")[-2:-1] == name.split(".")[-1:]


def resolve(path: str, name: str, names: Mapping[str, list[str]], items: set[str]) -> str:
    """Return the item that a path and a name mean: `path: Qualified.name`.

    Args:
        names: the names that each file of the answer defines, as read.
        items: the key's.
    """
    known = names.get(path, [])
    if name not in known:
        # A bare name counts where its file has one such; a longer one where it ends like one: packages, namespaces.
        short = {one for one in known if one.endswith("." + name) or (name in CONSTRUCTORS and is_constructor(one))}
        long = [one for one in known if name.endswith("." + one)]
        name = short.pop() if len(short) == 1 else max(long, key=len, default=name)
    # A constructor may be called by its class's name alone.
    constructor = f"{path}: {name}.{name.rpartition('.')[2]}"
    return constructor if f"{path}: {name}" not in items and constructor in items else f"{path}: {name}"


def read_items(text: str, key: Mapping[str, Any]) -> list[str]:
    """Return the items that an answer names, without repetitions, in their order."""
    items = set(map(normalize, key["items"]))
    only_files = not any(": " in item for item in key["items"])
    names = {path: list(map(read_name, found)) for path, found in key["names"].items()}
    paths = sorted({item.partition(": ")[0] for item in [*key["items"], *names]})
    odd = [path for path in paths if re.search(r"[^\w./@+~-]", path)]
    endings = {re.escape(path[path.rfind(".") :]) for path in paths}
    a_path = re.compile(rf"[^\s:|,;()<>=]+(?:{'|'.join(sorted(endings))})(?![\w/])")
    # What search servers put before the paths in their results: `host/group/project@branch/`, `/srv/project/`.
    project = re.compile(
        rf"(?:.*/)?{re.escape(key['project'])}(?:@[\w.-]+)?/+(?:-/(?:blob|tree|raw)/|(?:blob|tree|raw)/[^/]+/)?"
    )
    known = items.union(f"{path}: {name}" for path, found in names.items() for name in found)

    def is_known(path: str, name: str) -> bool:
        return resolve(path, name, names, items) in known

    known_paths = set(paths)
    found: list[str] = []
    heading = ""
    for line in answer_lines(text):
        line = BULLET.sub("", line[:LONGEST_LINE].replace("\\", "/"))
        shown = next((path for path in odd if path in line), "")
        if not shown:
            line = DRESS.sub("", without(BRACKETS, line))
            shown = match[0] if (match := a_path.search(line)) else ""
        before, _, after = line.partition(shown) if shown else ("", "", line)
        path = ROOTS.sub("", shown)
        path = path[match.end() :] if path not in known_paths and (match := project.match(path)) else path
        after = BETWEEN.sub("", PLACE.sub("", after) if shown else after).rstrip(" |,;]}")
        said = after or ("" if LABEL.match(before) else before)
        if said != before and not any(is_known(path, name) for name in read_names(said)):
            # A table may have the name first, and a remark last.
            said = before if any(is_known(path, name) for name in read_names(before)) else said
        if path:
            heading = "" if said else path
        if only_files or (path and not said):
            found += [path] if path else []
        elif path or heading:
            # The heading of names is no item itself.
            found = [item for item in found if item != heading]
            found += [resolve(path or heading, name, names, items) for name in read_names(said) if name]
        if len(found) >= READ_PER_ITEM * len(items) + READ_MORE:
            break
    return list(dict.fromkeys(found))[: READ_PER_ITEM * len(items) + READ_MORE]


def f_score(truth: set[str], found: set[str], beta: float) -> tuple[float, float, float]:
    """Return precision, recall and F-beta of two sets, each 0 to 1."""
    common = len(truth & found)
    precision = common / len(found) if found else 0.0
    recall = common / len(truth) if truth else 0.0
    weight = beta * beta
    total = weight * precision + recall
    return precision, recall, (1 + weight) * precision * recall / total if total else 0.0


def score(answer: str, key: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metrics of `answer`: `reward` (0-1), and what it missed and named wrongly."""
    found = read_items(answer, key)
    truth = list(map(normalize, key["items"]))
    precision, recall, reward = f_score(set(truth), set(found), BETA[key["measure"]])
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

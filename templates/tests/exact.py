"""Scores an answer that is a list of places in the code: exact.py [ROOT].

The answer is the last fenced block labelled `answer` in ROOT/app/solution.md, one `path: Qualified.name` a line. It is
compared with the set in ROOT/tests/ground_truth.json; reward.json and metrics.json go to ROOT/logs/verifier. Standard
library only, Python 3.9 and newer.
"""

import json
import os
import re
import sys

MAX_ANSWER_BYTES = 256 * 1024
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


def answer_lines(text):
    """Return the lines of the last block labelled `answer`; none where there is no such block."""
    lines, fence, inside = [], None, False
    for line in text.splitlines():
        found = FENCE.match(line)
        if fence is None:
            if found:
                fence = found.group(1)
                inside = found.group(2).strip().lower() == "answer"
                if inside:
                    lines = []
        elif found and found.group(1).startswith(fence) and not found.group(2).strip():
            fence, inside = None, False
        elif inside:
            lines.append(line)
    return [line.strip() for line in lines if line.strip()]


def read_path(text):
    """Return a path below the project, however it was written."""
    path = ROOTS.sub("", text.strip().strip("`'\"").replace("\\", "/"))
    return ROOTS.sub("", path).strip("/")


def read_name(text):
    """Return a name as the key has it: `.` between its parts, nothing of arguments and decoration."""
    name = text.strip().strip("`'\"").strip()
    if re.sub(r"[\W_]", "", name).lower() in ("toplevel", "module", "modulelevel", "filelevel"):
        return TOP_LEVEL
    before = None
    while before != name:
        before, name = name, ARGUMENTS.sub("", name)
    name = SEPARATORS.sub(".", name.strip().rstrip(";:,"))
    parts = [part for part in name.split(".") if part]
    if len(parts) > 1 and parts[-1] in CONSTRUCTORS:
        parts[-1] = parts[-2]
    return ".".join(parts)


def read_line(line):
    """Return the path and the name of a line; the name is empty where there is none."""
    line = BULLET.sub("", line).strip().strip("`").replace("`", "")
    line = re.sub(r"^[A-Za-z]:(?=[\\/])", "", line)
    found = SPLIT.match(line)
    if not found:
        return read_path(line), ""
    return read_path(found.group(1)), read_name(found.group(2))


def resolve(path, name, names):
    """Return the item that a line means: `path: Qualified.name`, or the path alone.

    Args:
        names: the names that each file of the answer defines.
    """
    if not name:
        return path
    known = names.get(path, [])
    read = [read_name(one) for one in known]
    if name in read:
        return "%s: %s" % (path, name)
    # A bare name counts where its file has one such; a longer one where it ends like one: packages, namespaces.
    short = [one for one in read if one.endswith("." + name)]
    long = [one for one in read if name.endswith("." + one)]
    for found in (sorted(set(short)), sorted(set(long), key=len)[-1:]):
        if len(found) == 1:
            return "%s: %s" % (path, found[0])
    return "%s: %s" % (path, name)


def stored(item):
    """Return an item of the key as `resolve` returns it."""
    path, colon, name = item.partition(": ")
    return "%s: %s" % (path, read_name(name)) if colon else path


def read_answer(text, key):
    """Return the items that an answer names, without repetitions, in their order."""
    most = LINES_PER_ITEM * len(key["items"]) + MORE_LINES
    items = set(map(stored, key["items"]))
    found = []
    for line in answer_lines(text)[:most]:
        path, name = read_line(line)
        item = resolve(path, name, key["names"])
        # A constructor may be called by its class's name alone.
        last = name.rpartition(".")[2]
        if item not in items and name and "%s: %s.%s" % (path, name, last) in items:
            item = "%s: %s.%s" % (path, name, last)
        if item not in found:
            found.append(item)
    return found


def f_score(truth, found, beta):
    """Return precision, recall and F-beta of two sets, each 0 to 1."""
    common = len(truth & found)
    precision = common / len(found) if found else 0.0
    recall = common / len(truth) if truth else 0.0
    weight = beta * beta
    total = weight * precision + recall
    return precision, recall, (1 + weight) * precision * recall / total if total else 0.0


def is_path(found, key):
    """Whether the items are a path: from the first of the key's to its last, each step one of its edges."""
    if len(found) < 2 or found[0] != stored(key["items"][0]) or found[-1] != stored(key["items"][-1]):
        return False
    edges = {(stored(a), stored(b)) for a, b in key["edges"]}
    return all(step in edges for step in zip(found, found[1:]))


def measure(text, key):
    """Return what metrics.json holds for an answer."""
    found = read_answer(text, key)
    truth = list(map(stored, key["items"]))
    precision, recall, score = f_score(set(truth), set(found), BETA.get(key["measure"], 1.0))
    if key["measure"] == "path":
        score = 1.0 if is_path(found, key) else 0.0
    files = [{item.partition(": ")[0] for item in items} for items in (truth, found)]
    by_file = f_score(files[0], files[1], 1.0)[2]
    return {
        "reward": round(score, 6),
        "components": {key["measure"]: round(score, 6)},
        "precision": round(precision, 6),
        "recall": round(recall, 6),
        "file_f1": round(by_file, 6),
        "missed": [item for item in truth if item not in found],
        "wrong": [item for item in found if item not in truth],
    }


def main(root):
    """Read the answer and the key, write the reward."""
    with open(os.path.join(root, "tests", "ground_truth.json"), encoding="utf-8") as stream:
        key = json.load(stream)["key"]
    text = ""
    place = os.path.join(root, "app", "solution.md")
    if os.path.isfile(place) and not os.path.islink(place):
        with open(place, "rb") as stream:
            text = stream.read(MAX_ANSWER_BYTES).decode("utf-8", "replace")
    result = measure(text, key)
    out = os.path.join(root, "logs", "verifier")
    for name, value in (("metrics.json", result), ("reward.json", {"reward": result["reward"]})):
        with open(os.path.join(out, name), "w", encoding="utf-8") as stream:
            json.dump(value, stream, indent=1)
            stream.write("\n")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 and sys.argv[1] else "/")

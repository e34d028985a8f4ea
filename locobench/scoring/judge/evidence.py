"""Build a judge's evidence pack: look up what an answer names in its code base, and show the code there.

Deterministic, without a model. Answers are read as verifiers read them.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from pathlib import PurePosixPath
from typing import NamedTuple

from locobench.reading import CODE, SPAN, WORD, fold, names_in, read_blocks
from locobench.scoring.judge.code_base import Code, Place

MAX_TOKENS = 12_000
# Code and paths take 3 to 4 characters a token; counting 3 keeps the promise for every tokenizer in use.
CHARACTERS_A_TOKEN = 3
# The share of the pack for what is said about names; the code gets the rest.
SHARE_OF_NAMES = 0.35
# Identifiers that the code has: those named most and found in the fewest lines. And names that it has not.
MOST_FOUND, MOST_MISSING = 150, 60
# Lines with a name that are shown in each of the files that a statement names.
MOST_IN_FILE = 6
# Longer names are not repeated: they may be sentences, and here they would stand outside the answer's mark.
LONGEST_NAME = 60
LONGEST_SHOWN_LINE = 180

# The number of a line (`:12`, `#L12-L20`, `lines 12 to 20`), or what may be a path.
_LINES_OR_PATH = re.compile(
    r"(?:(?<=[A-Za-z`])(?::|#L)|\b[Ll]ines?\s+)(\d{1,6})(?:\s*(?:-|\u2013|to|and)\s*L?(\d{1,6}))?|[\w.+@~/\\-]+"
)

Lines = tuple[str, int, int]
"""A file, and the first and last of some lines of it."""


class Said(NamedTuple):
    """What one block of an answer's prose names."""

    names: list[str]
    """Identifiers, as the answer spells them."""
    files: set[str]
    unknown_files: set[str]
    lines: list[Lines]


def read_block(text: str, code: Code) -> Said:
    """Read what a block of prose names."""
    said = Said([], code.files.named_in(text), set(), [])
    # Lines are those of the file named last before them, or of the only one.
    path = min(said.files) if len(said.files) == 1 else ""

    def look_up(match: re.Match[str]) -> str:
        nonlocal path
        if match[1]:
            if path:
                said.lines.append((path, int(match[1]), int(match[2] or match[1])))
            return match[0]
        name = match[0].replace("\\", "/").rstrip("./-").removeprefix("./")
        if PurePosixPath(name).suffix not in code.extensions:
            return match[0]
        path = min(code.files.named_in(name), default="")
        if not path and name not in code.endings:
            said.unknown_files.add(name)
        return " "

    rest = _LINES_OR_PATH.sub(look_up, text)
    wanted = set[str]().union(*names_in(rest))
    # Of several spellings the one in a code span counts.
    words = WORD.findall(" ".join(span for _, span in SPAN.findall(rest)) + " " + rest)
    spelled = {fold(word): word for word in reversed(words)}
    said.names.extend(spelled[name] for name in spelled if name in wanted)
    return said


def evidence(answer: str, code: Code) -> str:
    """Return an answer's evidence pack: Markdown of at most MAX_TOKENS tokens, the most decisive evidence first."""
    said = [read_block(block.text, code) for block in read_blocks(answer) if block.kind != CODE]
    known: Counter[str] = Counter()
    missing = set()
    for name in (name for block in said for name in block.names):
        if spelling := code.spelled(name):
            known[spelling] += 1
        elif not code.files.named_in(name):
            missing.add(name)
    worth = {name: count / math.log2(2 + len(code.places[name])) for name, count in known.items()}
    best = sorted(worth, key=lambda name: (-worth[name], name))[:MOST_FOUND]
    defined = {name: code.definitions(name) for name in best}
    budget = MAX_TOKENS * CHARACTERS_A_TOKEN
    told = [*_missing(said, missing, code), *_whereabouts(defined, code)]
    sizes = accumulate(len(line) + 1 for line in told)
    names = [line for line, size in zip(told, sizes, strict=True) if size <= budget * SHARE_OF_NAMES]
    shown = _excerpts(said, defined, code, budget - sum(map(len, names)) - len(names) - 100)
    pack = [f"## The names in the answer\n\n{chr(10).join(names)}"] if names else []
    pack += ["## The code\n\n" + "\n\n".join(shown)] if shown else []
    return "\n\n".join(pack) or "Nothing in the answer can be looked up in the code base."


def _missing(said: Sequence[Said], missing: Iterable[str], code: Code) -> list[str]:
    """Return what the code base has not; in alphabetical order, so that the names make no sentence."""
    told = []
    unknown_files = {path for block in said for path in block.unknown_files}
    for kind, names in (("files:", unknown_files), ("identifiers (a proposal of something new is no error):", missing)):
        quoted = [f"`{name}`" for name in sorted(names) if len(name) <= LONGEST_NAME]
        if quoted:
            told.append(f"- not in the code base: {kind} {', '.join(quoted[:MOST_MISSING])}")
    for path, last in dict(sorted((path, max(lines)) for block in said for path, *lines in block.lines)).items():
        if 0 < (count := len(code.lines[path])) < last:
            told.append(f"- `{path}` has only {count} lines, not line {last}")
    return told


def _whereabouts(defined: Mapping[str, Sequence[Place]], code: Code) -> list[str]:
    told = []
    for name, definitions in defined.items():
        at = ", ".join(f"{path}:{number}" for path, number in definitions[:3])
        files = Counter(path for path, _ in code.places[name]).most_common()
        used = ", ".join(f"{path} ({count})" for path, count in files[:4]) + (", …" if len(files) > 4 else "")
        told.append(f"- `{name}`: {f'defined {at}; ' if at else ''}lines in {used}")
    return told


def _excerpts(said: Iterable[Said], defined: Mapping[str, Sequence[Place]], code: Code, budget: int) -> list[str]:
    """Return the blocks of code that the answer speaks of, the most decisive first.

    A block is worth more the more of the names in one statement it holds, the rarer they are, and the shorter it is.
    """
    places = {name: _weighed(definitions, code.places[name]) for name, definitions in defined.items()}
    worth: defaultdict[Lines, float] = defaultdict(float)
    for block in said:
        for path, *ends in block.lines:
            for number in ends:
                if 0 < number <= len(code.lines[path]):
                    worth[path, *code.block(path, number)] += 1.0
        held: defaultdict[Lines, dict[str, float]] = defaultdict(dict)
        known = [name for name in map(code.spelled, block.names) if name in defined]
        for name in known:
            for path in ("", *sorted(block.files)):
                for place, weight in places[name].get(path, {}).items():
                    held[place[0], *code.block(*place)].setdefault(name, weight)
        for region, names in held.items():
            worth[region] += sum(names.values()) + 0.5 * (len(names) - 1) / len(known)
    chosen: list[str] = []
    seen: set[Place] = set()
    for region in sorted(worth, key=lambda r: (-worth[r] / math.sqrt(4 + r[2] - r[1]), r)):
        path, first, last = region
        numbers = {(path, number) for number in range(first, last + 1)}
        text = _with_numbers(code, *region)
        if len(text) + 2 <= budget and len(numbers & seen) <= len(numbers) / 2:
            seen |= numbers
            budget -= len(text) + 2
            chosen.append(text)
    return chosen


def _weighed(definitions: Sequence[Place], places: Sequence[Place]) -> dict[str, dict[Place, float]]:
    """Return where a name is, and how much each place is worth: in each file, and under "" if no file is named too."""
    found: defaultdict[str, dict[Place, float]] = defaultdict(dict)
    for weight, some, few in ((1.0, definitions, 3), (0.6, places, 4)):
        for place in some:
            for path in (place[0], "") if len(some) <= few else place[:1]:
                if len(found[path]) < MOST_IN_FILE:
                    found[path].setdefault(place, weight / math.log2(2 + len(places)))
    return found


def _with_numbers(code: Code, path: str, first: int, last: int) -> str:
    lines = code.lines[path][first - 1 : last]
    width = len(str(last))
    body = "\n".join(f"{number:>{width}} {line[:LONGEST_SHOWN_LINE]}" for number, line in enumerate(lines, first))
    return f"{path}:{first}-{last}\n```\n{body.replace('```', chr(0x2019) * 3)}\n```"

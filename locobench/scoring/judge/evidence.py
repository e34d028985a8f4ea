"""Build a judge's evidence pack: look up what an answer mentions in its code base, and show the code there.

Deterministic, without a model.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from locobench.reading import CODE, SPAN, is_compound, read_blocks
from locobench.scoring.judge.code_base import MOST_LINES, WIDESPREAD, WORD, Code

MAX_TOKENS = 12_000
# Code and paths take 3 to 4 characters a token; counting 3 keeps the promise for every tokenizer in use.
CHARACTERS_A_TOKEN = 3
# Shares of the pack: missing names, found names, calls and absences; the code gets the rest.
SHARE_OF_MISSING, SHARE_OF_NAMES, SHARE_OF_CALLS, SHARE_OF_ABSENCES = 0.1, 0.18, 0.12, 0.05
LONGEST_SHOWN_LINE = 180

_FILE = re.compile(r"[\w.@+-]*(?:/[\w.@+ -]*\w)*[\w-]+\.[A-Za-z][\w+]{0,9}(?![\w(])|(?:[\w.@+-]+/)+[\w.@+-]+")
# Too long for a name or a path, and the search for paths takes quadratic time or worse.
_ENDLESS = re.compile(r"[\w.@+/-]{300,}")
_LINES_AFTER = re.compile(r"(?::|#L)(\d+)(?:[-\u2013]L?(\d+))?")
_LINES_SAID = re.compile(r"\blines?\s+(\d+)(?:\s*(?:-|\u2013|to|and)\s*(\d+))?", re.IGNORECASE)
_ABSENCE = re.compile(
    r"\b(?:there(?:'s| is| are)|has|have|with|without|lacks?|missing|uses?|takes?|holds?|makes?|does)\s+(?:no|any)\s+"
    r"`?([A-Za-z_]\w{3,})",
    re.IGNORECASE,
)
_EVERYDAY_WORDS = """
about above also because been before being both call called calls case code data does each even every file files
from function have into just like line lines make more most much need only other over same should some such than
that their them then there these they this those through time under used uses using value very what when where
which while will with would your
"""
_EVERYDAY = frozenset(_EVERYDAY_WORDS.split())


class Statement:
    """One block of an answer's prose, with the names, files and lines in it."""

    def __init__(self, text: str, code: Code) -> None:
        text = _ENDLESS.sub(" ", text)
        self.text = text
        self.names: list[str] = []
        self.files: list[str] = []
        self.unknown_files: list[str] = []
        self.ranges: list[tuple[str, int, int]] = []
        rest = text
        for match in _FILE.finditer(text):
            found = code.files_named(match[0])
            if found:
                self.files += [path for path in found[:3] if path not in self.files]
                lines = _LINES_AFTER.match(text, match.end())
                if lines:
                    self.ranges.append((found[0], int(lines[1]), int(lines[2] or lines[1])))
                rest = rest.replace(match[0], " ")
            elif PurePosixPath(match[0]).suffix in code.extensions and not match[0].startswith("."):
                self.unknown_files.append(match[0])
                rest = rest.replace(match[0], " ")
        if len(self.files) == 1:
            self.ranges += [(self.files[0], int(m[1]), int(m[2] or m[1])) for m in _LINES_SAID.finditer(text)]
        for _, span in SPAN.findall(rest):
            self.names += WORD.findall(span) if len(span) <= 80 else []
        bare = SPAN.sub(" ", rest)
        self.names += [m[0] for m in WORD.finditer(bare) if is_compound(m[0]) or bare.startswith("()", m.end())]
        self.files += [path for name in self.names for path in code.files_named(name)[:1] if path not in self.files]
        # `_7` is not a name but short for `module_7` in a list of several.
        self.names = list(
            dict.fromkeys(n for n in self.names if len(n) > 2 and n.strip("_$0123456789") and not code.files_named(n))
        )


def evidence(answer: str, code: Code) -> str:
    """Return an answer's evidence pack: Markdown of at most MAX_TOKENS tokens, the most decisive evidence first."""
    blocks = read_blocks(answer)
    said = [Statement(block.text.replace("\n", " "), code) for block in blocks if block.kind != CODE]
    quoted = [line for block in blocks if block.kind == CODE for line in block.text.splitlines()]
    budget = MAX_TOKENS * CHARACTERS_A_TOKEN
    names: Counter[str] = Counter(name for statement in said for name in statement.names)
    parts = [
        ("Not in the code base", _missing(said, names, quoted, code), SHARE_OF_MISSING),
        ("Where the named identifiers are", _whereabouts(names, code), SHARE_OF_NAMES),
        ("Who mentions whom, where the answer names both", _relations(said, code), SHARE_OF_CALLS),
        ("Said to be absent", _absences(said, code), SHARE_OF_ABSENCES),
    ]
    pack = []
    for heading, lines, share in parts:
        kept = _cut_to(lines, int(budget * share))
        if kept:
            pack.append(f"## {heading}\n\n" + "\n".join(kept))
    left = budget - sum(len(part) + 2 for part in pack) - 20
    shown = _excerpts(said, code, left)
    if shown:
        pack.append("## The code\n\n" + "\n\n".join(shown))
    return "\n\n".join(pack) if pack else "Nothing in the answer can be looked up in the code base."


def _missing(said: Sequence[Statement], names: Counter[str], quoted: Iterable[str], code: Code) -> list[str]:
    lines = []
    unknown_files = (path for statement in said for path in statement.unknown_files)
    # A name with blanks may be a sentence that speaks to the judge, and here it would stand outside the answer's mark.
    for path in dict.fromkeys(path for path in unknown_files if " " not in path):
        lines.append(f"- file `{path}`")
    unknown = [name for name in names if not code.spelled(name)]
    # The most frequent names come first. A new name that the answer proposes is missing without being wrong.
    unknown.sort(key=lambda name: -names[name])
    if unknown:
        lines.append(
            "- identifiers (a proposal of something new is no error): " + ", ".join(f"`{n}`" for n in unknown[:60])
        )
    for path, first, last in (place for statement in said for place in statement.ranges):
        if max(first, last) > len(code.lines[path]):
            lines.append(f"- `{path}` has only {len(code.lines[path])} lines, not line {max(first, last)}")
    known = {_bare(line) for text in code.lines.values() for line in text}
    code_lines = [line for line in quoted if len(_bare(line)) > 11]
    absent = [line.strip()[:120] for line in code_lines if _bare(line) not in known]
    if code_lines:
        lines.append(
            f"- of {len(code_lines)} lines in the answer's code blocks, {len(absent)} (quoted wrongly, or proposed)"
        )
    return lines


def _whereabouts(names: Counter[str], code: Code) -> list[str]:
    lines = []
    for name in sorted(names, key=lambda name: -names[name] / math.log2(2 + len(code.places.get(name, ())))):
        for spelling in code.spelled(name)[:1]:
            places = code.places[spelling]
            defined = ", ".join(f"{path}:{number}" for path, number in code.definitions(spelling)[:3])
            files = Counter(path for path, _ in places).most_common()
            used = ", ".join(f"{path} ({count})" for path, count in files[:4]) + (", …" if len(files) > 4 else "")
            lines.append(f"- `{spelling}`: {f'defined {defined}; ' if defined else ''}lines in {used}")
    return lines


def _relations(said: Iterable[Statement], code: Code) -> list[str]:
    lines: dict[tuple[str, ...], str] = {}
    for statement in said:
        known = [spelling for name in statement.names for spelling in code.spelled(name)[:1]]
        bodies = {name: [(p, *code.block(p, n, 400)) for p, n in code.definitions(name)[:2]] for name in known[:8]}
        for one in known[:8]:
            for other in known[:8]:
                if one == other or (one, other) in lines:
                    continue
                for path, first, last in bodies[one]:
                    at = [n for p, n in code.places[other] if p == path and first < n <= last]
                    if at and last - first > 1:
                        shown = ", ".join(map(str, at[:4]))
                        lines[one, other] = f"- `{one}` ({path}:{first}-{last}) mentions `{other}` in line {shown}"
                        break
        with_body = [name for name in known[:8] if bodies[name] and bodies[name][0][2] - bodies[name][0][1] > 1]
        if len(with_body) == 2 and not {tuple(with_body), tuple(with_body[::-1])} & lines.keys():
            lines[tuple(with_body)] = f"- neither `{with_body[0]}` nor `{with_body[1]}` mentions the other"
    return list(lines.values())


def _absences(said: Iterable[Statement], code: Code) -> list[str]:
    lines: dict[str, str] = {}
    for statement in said:
        for word in _ABSENCE.findall(statement.text):
            key = word.lower()
            if key in lines or key in _EVERYDAY:
                continue
            found = [(p, n) for name, places in code.places.items() if key in name.lower() for p, n in places]
            if not found:
                lines[key] = f"- \u201c{word}\u201d: in no line"
            elif len(found) <= WIDESPREAD:
                path, number = found[0]
                shown = code.lines[path][number - 1].strip()[:100]
                lines[key] = f"- \u201c{word}\u201d: in {len(found)} lines, e.g. {path}:{number}: `{shown}`"
    return list(lines.values())


def _excerpts(said: Iterable[Statement], code: Code, budget: int) -> list[str]:
    """Return the pieces of code that the answer mentions, the most decisive first."""
    worth: defaultdict[tuple[str, int, int], float] = defaultdict(float)
    for statement in said:
        for path, first, last in statement.ranges:
            if first <= len(code.lines[path]):
                low, high = code.around(path, first)
                worth[path, min(low, first), min(max(high, last), first + MOST_LINES, len(code.lines[path]))] += 2.0
        known = [spelling for name in statement.names for spelling in code.spelled(name)[:1]]
        touched: defaultdict[tuple[str, int, int], set[str]] = defaultdict(set)
        for name in known:
            places = code.places[name]
            rarity = 1 / math.log2(2 + len(places))
            defined = code.definitions(name)
            here = [place for place in defined if place[0] in statement.files] or (defined if len(defined) <= 3 else [])
            for path, number in here[:3]:
                region = (path, *code.block(path, number))
                worth[region] += rarity
                touched[region].add(name)
            near = [place for place in places if place[0] in statement.files and place not in defined]
            if not statement.files and len(places) <= 4:
                near = [place for place in places if place not in defined]
            for path, number in near[:6]:
                region = (path, *code.around(path, number))
                if name not in touched[region]:
                    worth[region] += 0.6 * rarity
                    touched[region].add(name)
        for region, found in touched.items():
            worth[region] += 0.5 * (len(found) - 1) / max(1, len(known))
    chosen: list[str] = []
    left = budget
    seen: defaultdict[str, set[int]] = defaultdict(set)
    for region in sorted(worth, key=lambda r: (-worth[r] / math.sqrt(4 + r[2] - r[1]), r)):
        path, first, last = region
        fresh = [n for n in range(first, last + 1) if n not in seen[path]]
        if len(fresh) < 0.5 * (last - first + 1):
            continue
        text = _with_numbers(code, path, first, last)
        if len(text) + 2 > left:
            continue
        seen[path].update(range(first, last + 1))
        left -= len(text) + 2
        chosen.append(text)
    return chosen


def _with_numbers(code: Code, path: str, first: int, last: int) -> str:
    lines = code.lines[path][first - 1 : last]
    width = len(str(last))
    body = "\n".join(f"{number:>{width}} {line[:LONGEST_SHOWN_LINE]}" for number, line in enumerate(lines, first))
    return f"{path}:{first}-{last}\n```\n{body.replace('```', chr(0x2019) * 3)}\n```"


def _cut_to(lines: Iterable[str], characters: int) -> list[str]:
    kept = []
    for line in lines:
        characters -= len(line) + 1
        if characters < 0:
            break
        kept.append(line)
    return kept


def _bare(line: str) -> str:
    return "".join(line.split()).strip("/*#`'\"\\>")

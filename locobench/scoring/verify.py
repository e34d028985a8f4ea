"""Score an answer against its task's key and write the reward: `verify.py [ROOT]`.

The number orders answers of agents that do not attack it. It is no reward to train on, and it does not tell a true
statement from a false one about the same names: docs/VERIFIER.md says how far it goes, and what to use beyond that.

Reads ROOT/app/solution.md and ROOT/tests/ground_truth.json; writes ROOT/logs/verifier/reward.json and metrics.json.
Standard library only, Python 3.9 and newer, no network. Goes into a task's tests, with locobench/reading.py beside it.
The generator makes keys and oracles with these very functions.
"""

from __future__ import annotations

import collections
import math
import os
import re
import sys
from collections.abc import Mapping
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from locobench.reading import (
    CODE,
    HEADING,
    SPAN,
    WORD,
    CodeBase,
    fold,
    grade,
    is_compound,
    names_in,
    read_blocks,
)

VERSION = "4.0"

# What a scoring file may set, with the defaults. The weights and the 100 words are the benchmark's; docs/VERIFIER.md
# gives for each of the others the reason and the range in which every promise is kept.
SCORING: dict[str, Any] = {
    "weights": {"keyword_overlap": 0.5, "file_references": 0.2, "code_blocks": 0.2, "length_score": 0.1},
    # Identifiers, each in one file only, for 63 % of the credit (1 - 1/e).
    "names": 5,
    # Credit for an identifier of one part (`nack`), which can often be guessed.
    "simple": 0.5,
    # Files, or lines of code, for 63 % of their credit.
    "shown": 3,
    # Share of the ten most frequent words in prose that somebody wrote, in any language; a word list has less.
    "frequent": 0.15,
    "length_words": 100,
}

# Paths and qualified names are not words of prose.
_JOINED = re.compile(r"(?<!\S)\S*[/\\.]\w\S*")
_SENTENCE_END = re.compile(r"(?<=[.;:!?])\s+")
# Sentences and headings propose names with these words, and code declares them so: such names are not invented.
_PROPOSES = re.compile(
    r"\b(?:new|newly|adds?|added|adding|introduc(?:e|es|ed|ing)|propos(?:e|es|ed|al)|creat(?:e|es|ed|ing)"
    r"|extract(?:s|ed|ing)?|renam(?:e|es|ed|ing)|mov(?:e|es|ed|ing)|split(?:s|ting)?|suggest(?:s|ed)?"
    r"|(?:should|would|could) be)\b",
    re.IGNORECASE,
)
_DECLARES = re.compile(
    r"\b(?:class|struct|interface|enum|trait|type|def|fn|func|function|record|namespace|module|const|let|var|val|static"
    r"|impl|using|typedef|import|from)\s+([A-Za-z_$][\w$]*)"
)


class Evidence:
    """The parts of an answer that can be looked up in the code base.

    Attributes:
        credit: existing identifier in a statement -> its credit, 0 to 1.
        placed: file -> the credit of the best identifier that a statement correctly places in it.
        invented: identifiers that are neither in the code base nor proposed as new.
        lines: sums of the lines of the code base that the answer shows.
        prose: counts of the answer's own words of prose.
        copied: number of words of prose copied from the code base.
    """

    def __init__(self, answer: str, key: Mapping[str, Any], code: CodeBase) -> None:
        self.credit: dict[str, float] = {}
        self.placed: dict[str, float] = {}
        self.invented: set[str] = set()
        self.lines: set[int] = set()
        self.prose: collections.Counter[str] = collections.Counter()
        self.copied = 0
        self._code, self._given = code, set(key["given"])
        self._simple = key["scoring"]["simple"]
        self._numbers = {path: number for number, path in enumerate(key["files"])}
        proposed: set[str] = set()
        section_proposes = False
        for kind, text in read_blocks(answer):
            own, lines, copied = code.without_copies(text)
            self.lines |= lines
            if kind == CODE:
                proposed.update(map(fold, _DECLARES.findall(own)))
                continue
            self.copied += copied
            if kind == HEADING:
                section_proposes = bool(_PROPOSES.search(own))
            self._read_statement(own)
            for sentence in _SENTENCE_END.split(own):
                if section_proposes or _PROPOSES.search(sentence):
                    proposed |= names_in(sentence).certain
        self.invented -= proposed

    def _read_statement(self, text: str) -> None:
        names = names_in(text)
        existing = {name for kind in names for name in kind if name in self._code.places} - self._given
        invented = {name for name in names.certain if name not in self._code.places} - self._given
        plain = _JOINED.sub(" ", SPAN.sub(" ", text))
        own = [word.lower() for word in WORD.findall(plain) if not is_compound(word)]
        self.prose.update(own)
        self.invented |= invented
        # A list of names says nothing about them.
        said = saturate(len(own), max(1, len(existing) + len(invented)))
        files = self._code.files.named_in(text) if existing else ()
        for name in existing:
            credit = said * (self._simple if name in names.simple else 1.0)
            self.credit[name] = max(credit, self.credit.get(name, 0.0))
            for path in files:
                if self._numbers[path] in self._code.places[name]:
                    self.placed[path] = max(credit, self.placed.get(path, 0.0))


def saturate(amount: float, scale: float) -> float:
    """Return 1 - e^(-amount / scale): 0 for nothing, 0.63 at `scale`, towards 1 beyond."""
    return 1 - math.exp(-amount / scale)


def measure(answer: str, key: Mapping[str, Any], code: CodeBase) -> dict[str, Any]:
    """Return an answer's components, each 0 to 1, not yet divided by the oracle's, and what they were made from."""
    scoring, seen = key["scoring"], Evidence(answer, key, code)
    # An identifier that many files contain does not show that the agent has read one.
    found = sum(seen.credit[name] / math.sqrt(len(code.places[name])) for name in sorted(seen.credit))
    # One true name in advance: a short answer is not judged by one word of a library that the code does not use.
    true = (found + 1) / (found + 1 + len(seen.invented))
    spoken = sum(seen.prose.values())
    frequent = sum(count for _, count in seen.prose.most_common(10)) / max(1, spoken)
    own = spoken / max(1, seen.copied + spoken)
    written = min(1.0, frequent / scoring["frequent"]) ** 3 * own**2
    # Squared: an answer with one invented name has usually guessed some of the others.
    known = saturate(found * true**2, scoring["names"]) * written
    placed = sum(seen.placed[path] for path in sorted(seen.placed))
    return {
        "components": {
            "keyword_overlap": known,
            "file_references": known * saturate(placed, scoring["shown"]),
            "code_blocks": known * saturate(len(seen.lines), scoring["shown"]),
            "length_score": known * min(1.0, spoken / scoring["length_words"]),
        },
        "identifiers": dict(sorted(seen.credit.items())),
        "invented_identifiers": sorted(seen.invented),
        "files": dict(sorted(seen.placed.items())),
        "lines_shown": len(seen.lines),
        "found": found,
        "true": true,
        "written": written,
        "words": spoken,
        "frequent": frequent,
        "own": own,
    }


def score(answer: str, key: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metrics of `answer`: `reward` (0-1), each component (0-1), and what they were made from."""
    code = CodeBase.read(key)
    full = measure(key["oracle"], key, code)["components"]
    return held_against(full, measure(answer, key, code), key["scoring"]["weights"])


def held_against(
    full: Mapping[str, float], measured: Mapping[str, Any], weights: Mapping[str, float]
) -> dict[str, Any]:
    """Return the metrics: each component is a share of `full`, the oracle's value for it."""
    shares = {name: min(1.0, amount / full[name]) for name, amount in measured["components"].items() if full[name]}
    # No answer can show what even the oracle cannot: there the identifiers decide alone.
    components = {name: shares.get(name, shares["keyword_overlap"]) for name in weights}
    return {
        **measured,
        "reward": weighted(components, weights),
        "components": {name: round(value, 6) for name, value in components.items()},
        "scoring": "evidence",
        "scoring_version": VERSION,
    }


def weighted(components: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """Return the weighted mean of the components, 0 to 1."""
    total = sum(weights[name] * components[name] for name in weights) / sum(weights.values())
    return round(min(1.0, max(0.0, total)), 6)


if __name__ == "__main__":
    grade(score, sys.argv[1] if len(sys.argv) > 1 else "")

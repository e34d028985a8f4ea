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

from locobench.reading import CODE, SPAN, STARTS_BLOCK, WORD, CodeBase, fold, grade, is_compound, names_in, read_blocks

VERSION = "4.1"

# The weights and the 100 words are the benchmark's; docs/VERIFIER.md gives for each of the others the reason and the
# range in which every promise is kept.
SCORING: dict[str, Any] = {
    "weights": {"keyword_overlap": 0.5, "file_references": 0.2, "code_blocks": 0.2, "length_score": 0.1},
    # Identifiers, each in one file only, for 63 % of the credit (1 - 1/e).
    "names": 5,
    # Credit for an identifier of one part (`nack`), which can often be guessed.
    "simple": 0.5,
    # Files, or lines of code, for 63 % of their credit.
    "shown": 3,
    # New names that an answer may propose for each existing one that it has found.
    "proposed": 1.5,
    # Share of the ten most frequent words in prose that somebody wrote, in any language; a word list has less.
    "frequent": 0.15,
    "length_words": 100,
}

# Paths and qualified names are not words of prose.
_JOINED = re.compile(r"(?<!\S)\S*[/\\.]\w\S*")
_SENTENCE_END = re.compile(r"(?<=[.;!?])\s+")
# With these words an answer proposes what it names, or says that it is not there; its own code declares names so.
_NEW = re.compile(
    r"\b(?:new|newly|(?:add|extract|suggest|recommend)(?:s|ed|ing)?|(?:introduc|propos|creat|renam|mov)(?:e[sd]?|al|ing)"
    r"|split(?:s|ting)?|would|(?:should|could) be|neither|nor|nowhere|missing|absent|lacks?|no such"
    r"|(?:found|finds?|is|are|has|have|sees?|exists?) no(?:ne|thing)?|not (?:there|found?|defined|declared))\b"
    r"|\bno `|(?:not|n't) (?:find|exist)\b",
    re.IGNORECASE,
)
# Below headings (1 to 6) stand paragraphs, below these the list or table that they introduce, below a row its table.
_PARAGRAPH, _ITEM, _ROW = 7, 8, 9
_DECLARES = re.compile(
    r"\b(?:class|struct|interface|enum|trait|type|def|fn|func|function|record|namespace|module|const|let|var|val|static"
    r"|impl|using|typedef|import|from)\s+([A-Za-z_$][\w$]*)"
)


class Evidence:
    """The parts of an answer that can be looked up in the code base.

    Attributes:
        credit: existing identifier in a statement -> its credit, 0 to 1.
        placed: file -> the credit of the best identifier that a statement correctly places in it.
        invented: identifiers that the code base does not have, although the answer speaks of them as if it did.
        proposed: those that the answer proposes, declares or says to be absent, somewhere.
        lines: sums of the lines of the code base that the answer shows.
        prose: counts of the answer's own words of prose.
        copied: number of words of prose copied from the code base.
    """

    def __init__(self, answer: str, key: Mapping[str, Any], code: CodeBase, scoring: Mapping[str, Any]) -> None:
        self.credit: dict[str, float] = {}
        self.placed: dict[str, float] = {}
        self.invented: set[str] = set()
        self.lines: set[int] = set()
        self.prose: collections.Counter[str] = collections.Counter()
        self.copied = 0
        self._code, self._given = code, set(key["given"])
        self._simple = scoring["simple"]
        self._numbers = {path: number for number, path in enumerate(key["files"])}
        new: set[str] = set()
        # The rank of the heading, lead-in or row whose "new" holds for what stands below it; 0 where there is none.
        below = 0
        for kind, text, level in read_blocks(answer):
            own, lines, copied = code.without_copies(text)
            self.lines |= lines
            if kind == CODE:
                new.update(map(fold, _DECLARES.findall(own)))
                continue
            self.copied += copied
            self._read_statement(own)
            item = STARTS_BLOCK.match(text)
            rank = level or (_PARAGRAPH if not item else _ROW if item[0].endswith("|") else _ITEM)
            if not (inherits := 0 < below < rank):
                below = min(rank, _ITEM) if _NEW.search(own) else 0
            for sentence in [own] if inherits else _SENTENCE_END.split(own):
                if inherits or _NEW.search(sentence):
                    new |= names_in(sentence).certain
        self.proposed, self.invented = self.invented & new, self.invented - new

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


def measure(
    answer: str, key: Mapping[str, Any], code: CodeBase, scoring: Mapping[str, Any] = SCORING
) -> dict[str, Any]:
    """Return an answer's components, each 0 to 1, not yet divided by the oracle's, and what they were made from."""
    seen = Evidence(answer, key, code, scoring)
    # An identifier that many files contain does not show that the agent has read one.
    found = sum(seen.credit[name] / math.sqrt(len(code.places[name])) for name in sorted(seen.credit))
    # One true name in advance: a short answer is not judged by one word of a library that the code does not use.
    # And new names are free up to so many for each old one: a proposal stands on what is there.
    untrue = len(seen.invented) + max(0.0, len(seen.proposed) - scoring["proposed"] * found)
    true = (found + 1) / (found + 1 + untrue)
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
        "proposed_identifiers": sorted(seen.proposed),
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
    return normalize_by_oracle(full, measure(answer, key, code))


def normalize_by_oracle(full: Mapping[str, float], measured: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metrics: each component is a share of `full`, the oracle's value for it."""
    shares = {name: min(1.0, amount / full[name]) for name, amount in measured["components"].items() if full[name]}
    # No answer can show what even the oracle cannot: there the identifiers decide alone.
    weights = SCORING["weights"]
    components = {name: shares.get(name, shares["keyword_overlap"]) for name in weights}
    return {
        **measured,
        "reward": weigh(components, weights),
        "components": {name: round(value, 6) for name, value in components.items()},
        "scoring": "evidence",
        "scoring_version": VERSION,
    }


def weigh(components: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """Return the weighted mean of the components, 0 to 1."""
    total = sum(weights[name] * components[name] for name in weights) / sum(weights.values())
    return round(min(1.0, max(0.0, total)), 6)


if __name__ == "__main__":
    grade(score, sys.argv[1] if len(sys.argv) > 1 else "")

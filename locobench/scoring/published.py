"""Score an answer by the published verifier's formula, for comparison with published numbers: `verify.py [ROOT]`.

0.5 F1 of words with the truth, 0.2 twice the share of context files named, 0.2 a code block (half for a code span), 0.1
length up to 100 words. It knows nothing of the code base. Standard library only, Python 3.9 and newer: goes into a
task's tests as verify.py, with locobench/reading.py beside it.
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

WEIGHTS = {"keyword_overlap": 0.5, "file_references": 0.2, "code_blocks": 0.2, "length_score": 0.1}
ENOUGH_WORDS = 100
# Everyday words, which the comparison leaves out.
_STOP_WORDS = frozenset(
    """
a above after again all an and are as at be because been before being below between but by can could dare did do does
during each few for from further had has have here how i if in into is it its just may me might more most must need no
nor not of on once only or other our own same shall should so some such than that the their them then there these they
this those through to too under until very was we were what when where while who why will with would you your
""".split()  # noqa: SIM905
)


def extract_keywords(text: str) -> set[str]:
    """Return the words of a text that are longer than two letters and not everyday words."""
    found = re.sub(r"[^\w\s]", "", re.sub(r"\s+", " ", text.lower())).split()
    return {word for word in found if len(word) > 2 and word not in _STOP_WORDS}


def compute_keyword_overlap(solution: str, ground_truth: str) -> float:
    """Return the F1 of the answer's words with those of the truth, 0-1.

    To grade by other means, give a copy of this file another function here: docs/CUSTOM_VERIFIER.md.
    """
    said, wanted = extract_keywords(solution), extract_keywords(ground_truth)
    return 2 * len(said & wanted) / max(1, len(said) + len(wanted))


def check_file_references(solution: str, context_files: Sequence[str]) -> float:
    """Return twice the share of files that the answer names by path or name, at most 1; 1 if there are none."""
    named = sum(path in solution or path.rpartition("/")[2] in solution for path in context_files)
    return min(1.0, 2 * named / len(context_files)) if context_files else 1.0


def check_code_blocks(solution: str) -> float:
    """Return 1 if the answer has a code block, 0.5 for a code span, else 0."""
    if re.search(r"```\w*\n[\s\S]*?```", solution):
        return 1.0
    return 0.5 if re.search(r"`[^`]+`", solution) else 0.0


def score(answer: str, key: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metrics of `answer`: `reward` (0-1) and each component (0-1)."""
    components = {
        "keyword_overlap": compute_keyword_overlap(answer, key["truth"]),
        "file_references": check_file_references(answer, key["files"]),
        "code_blocks": check_code_blocks(answer),
        "length_score": min(1.0, len(answer.split()) / ENOUGH_WORDS),
    }
    if not answer.strip():
        components = dict.fromkeys(components, 0.0)
    return {
        "reward": round(sum(WEIGHTS[name] * components[name] for name in WEIGHTS), 6),
        "components": {name: round(value, 6) for name, value in components.items()},
        "weights": WEIGHTS,
        "scoring": "published",
    }


if __name__ == "__main__":
    grade(score, sys.argv[1] if len(sys.argv) > 1 else "")

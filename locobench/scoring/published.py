"""Score an answer by the published verifier's formula, for comparison with published numbers: `verify.py [ROOT]`.

0.5 F1 of words with the truth, 0.2 twice the share of context files named, 0.2 a code block (half for a code span), 0.1
length up to 100 words. It knows nothing of the code base. Standard library only, Python 3.9 and newer: goes into a
task's tests as verify.py, with locobench/reading.py beside it.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from locobench.reading import grade

WEIGHTS = {"keyword_overlap": 0.5, "file_references": 0.2, "code_blocks": 0.2, "length_score": 0.1}
# Everyday words, which the comparison leaves out.
_STOP_WORDS = frozenset(
    """
a above after again all an and are as at be because been before being below between but by can could dare did do does
during each few for from further had has have here how i if in into is it its just may me might more most must need no
nor not of on once only or other our own same shall should so some such than that the their them then there these they
this those through to too under until very was we were what when where while who why will with would you your
""".split()  # noqa: SIM905
)


def _words(text: str) -> set[str]:
    found = re.sub(r"[^\w\s]", "", re.sub(r"\s+", " ", text.lower())).split()
    return {word for word in found if len(word) > 2 and word not in _STOP_WORDS}


def _f1(said: set[str], wanted: set[str]) -> float:
    return 2 * len(said & wanted) / max(1, len(said) + len(wanted))


def score(answer: str, key: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metrics of `answer`: `reward` (0-1) and each component (0-1)."""
    files = key["files"]
    named = sum(path in answer or path.rpartition("/")[2] in answer for path in files)
    has_block = re.search(r"```\w*\n[\s\S]*?```", answer)
    components = {
        "keyword_overlap": _f1(_words(answer), _words(key["truth"])),
        "file_references": min(1.0, 2 * named / len(files)) if files else 1.0,
        "code_blocks": 1.0 if has_block else 0.5 if re.search(r"`[^`]+`", answer) else 0.0,
        "length_score": min(1.0, len(answer.split()) / 100),
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

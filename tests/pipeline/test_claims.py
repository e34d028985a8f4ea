"""What the sample's ground truths say and a program can decide is so; claims that need an image: tests/e2e."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from tests.conftest import REPOSITORY
from tools.claims import Claim, claims, run_here, truth_of


@pytest.mark.parametrize("claim", claims(), ids=str)
def test_claim_stands_in_the_ground_truth(claim: Claim) -> None:
    assert " ".join(claim.says.split()) in truth_of(claim.scenario)


@pytest.mark.slow
@pytest.mark.parametrize("claim", [claim for claim in claims() if not claim.image], ids=str)
def test_claim_holds(claim: Claim) -> None:
    outcome = run_here(claim)
    assert outcome.holds, outcome.output


def test_the_table_in_the_docs_counts_the_programs() -> None:
    text = (REPOSITORY / "docs" / "DATA_EXPLORATION.md").read_text(encoding="utf-8")
    names = {"C++": "cpp", "C#": "csharp"}
    rows = dict(re.findall(r"^\| ([\w+#]+) \| (\d+) \| \d+ \|$", text, re.M))
    counted = Counter(claim.scenario.partition("_")[0] for claim in claims())
    assert {names.get(name, name.lower()): int(number) for name, number in rows.items()} == counted

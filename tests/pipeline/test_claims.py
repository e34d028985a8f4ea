"""What the sample's ground truths say and a program can decide is so; claims that need an image: tests/e2e."""

from __future__ import annotations

import pytest

from tests.claims import Claim, claims, run_here, truth_of


@pytest.mark.parametrize("claim", claims(), ids=str)
def test_claim_stands_in_the_ground_truth(claim: Claim) -> None:
    assert " ".join(claim.says.split()) in truth_of(claim.scenario)


@pytest.mark.parametrize("claim", [claim for claim in claims() if not claim.image], ids=str)
def test_claim_holds(claim: Claim) -> None:
    outcome = run_here(claim)
    assert outcome.holds, outcome.output

"""What the sample's ground truths say about behaviour, shown by programs, most in the projects' own images."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tools.claims import Claim, built_images, claims, run_here, run_in_images

pytestmark = pytest.mark.e2e


def test_a_claim_of_each_language_that_needs_an_image_holds(tasks: Path) -> None:
    """One of each, for compilers are slow; all of them with E2E_ALL=1."""
    chosen = [claim for claim in claims() if claim.image]
    if not os.environ.get("E2E_ALL"):
        chosen = list({claim.scenario.partition("_")[0]: claim for claim in chosen}.values())
    images = built_images(tasks, {claim.scenario for claim in chosen})
    outcomes = run_in_images(chosen, images)
    assert chosen
    for claim, outcome in zip(chosen, outcomes, strict=True):
        assert outcome.holds, f"{claim}: {outcome.output}"


@pytest.mark.parametrize("claim", [claim for claim in claims() if not claim.image], ids=str)
def test_claim_that_needs_no_image_holds(claim: Claim) -> None:
    outcome = run_here(claim)
    assert outcome.holds, outcome.output

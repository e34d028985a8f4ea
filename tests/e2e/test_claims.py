"""What the sample's ground truths say about behaviour, shown by programs in the projects' own images."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.claims import built_images, claims, run_in_image

pytestmark = pytest.mark.e2e


def test_every_claim_that_needs_an_image_holds(tasks: Path) -> None:
    chosen = [claim for claim in claims() if claim.image]
    images = dict(built_images(tasks, {claim.scenario for claim in chosen}))
    # Two at a time: compilers use a core each.
    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(lambda claim: run_in_image(claim, images[claim.scenario]), chosen))
    assert chosen
    for claim, outcome in zip(chosen, outcomes, strict=True):
        assert outcome.holds, f"{claim}: {outcome.output}"

"""Extraction and generation keep their promises on data of any shape (longer: `make fuzz`)."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.invariants import check_extraction, check_generation
from tests.support.strategies import Entry, flags, projects, scenarios

FEW = settings(max_examples=15, suppress_health_check=list(HealthCheck))


@pytest.mark.slow
@FEW
@given(st.lists(scenarios(), max_size=4))
def test_extraction_writes_the_good_and_names_the_rest(found: list[tuple[str, bytes]]) -> None:
    with tempfile.TemporaryDirectory() as root:
        check_extraction(Path(root), found)


@pytest.mark.slow
@FEW
@given(st.lists(scenarios(), min_size=1, max_size=3), projects, flags)
def test_generation_keeps_inside_and_every_task_is_sound(
    found: list[tuple[str, bytes]], project: list[Entry], chosen: set[str]
) -> None:
    with tempfile.TemporaryDirectory() as root:
        check_generation(Path(root).resolve(), found, project, chosen)

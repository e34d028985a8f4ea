"""docs/DEVIATIONS.md: every row has a reason and a test that exists."""

from __future__ import annotations

import re

from tests.support.suite import REPOSITORY

PAGE = (REPOSITORY / "docs/DEVIATIONS.md").read_text(encoding="utf-8")


def test_every_deviation_has_a_reason_and_a_test_that_exists() -> None:
    lines = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| The documents")]
    rows = [line.strip("| ").split(" | ") for line in lines]
    assert len(rows) > 20
    for row in rows:
        assert len(row) == 4, row
        assert all(len(cell.split()) > 1 for cell in row[:3]), row
        file, _, name = row[3].strip("`").partition("::")
        assert re.search(rf"^(async )?def {name}\(", (REPOSITORY / file).read_text(encoding="utf-8"), re.MULTILINE), row


def test_the_pages_that_the_documents_name_are_there() -> None:
    for page in ("docs/TASK_SELECTION_CRITERIA.md", "docs/DATA_EXPLORATION.md", "SMOKE_TEST_RESULTS.md"):
        assert (REPOSITORY / page).is_file(), page

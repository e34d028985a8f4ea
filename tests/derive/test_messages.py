"""What of a commit's message becomes part of a question."""

from __future__ import annotations

import pytest

from locobench.derive.messages import clean
from locobench.derive.structure import gives_a_name


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fix UTF-8 decoding of arguments", "Fix UTF-8 decoding of arguments"),
        ("Support PSR-7 and RFC-822 headers", "Support PSR-7 and RFC-822 headers"),
        ("Wrap text\n\nfixes the slow start of large files", "Wrap text\n\nfixes the slow start of large files"),
        ("CLI-277: Sort options", "Sort options"),
        ("[CLI-277] Sort options (CLI-12)", "Sort options"),
        ("Sort options, fixes CLI-277.", "Sort options,."),
        ("Sort options (#12)\n\nCloses GH-3\nSee https://x.y/z\nFixes CLI-277", "Sort options"),
    ],
)
def test_references_go_and_standards_stay(text: str, expected: str) -> None:
    assert clean(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("one = call(\n    use\n)", True), ("call(\n    use\n)", False), ("x = 1\n\ncall(use)", False), ("  use", False)],
)
def test_a_statement_may_give_its_value_a_name(text: str, expected: bool) -> None:
    assert gives_a_name(text.encode(), text.index("use")) is expected

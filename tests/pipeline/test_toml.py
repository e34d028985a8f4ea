"""TOML of any shape: read, or one kind of error."""

from __future__ import annotations

from pathlib import Path

import pytest

from locobench.shared.errors import InputError
from locobench.shared.files import read_toml


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a = " + b"[" * 5000, "not TOML: nested too deeply"),
        (b"a = " + b"1" * 5000, "not TOML: .*digits"),
        (b"a = ", "not TOML: Invalid value"),
        (b"a = '\xff'", r"not UTF-8 text \(byte 5\)"),
    ],
)
def test_what_is_no_toml_is_named(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "a.toml").write_bytes(content)
    with pytest.raises(InputError, match=rf"a\.toml: {words}"):
        read_toml(tmp_path / "a.toml")


def test_a_document_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('a = 1\n[b]\nc = ["x"]\n')
    assert read_toml(tmp_path / "a.toml") == {"a": 1, "b": {"c": ["x"]}}

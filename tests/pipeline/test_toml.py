"""TOML of any shape: read, or one kind of error."""

from __future__ import annotations

import tomllib

import pytest

from locobench.shared import toml


def test_what_is_nested_too_deeply_is_no_toml() -> None:
    with pytest.raises(tomllib.TOMLDecodeError, match="nested too deeply"):
        toml.loads("a = " + "[" * 5000)


def test_a_number_of_more_digits_than_are_read_is_no_toml() -> None:
    with pytest.raises(tomllib.TOMLDecodeError, match="digits"):
        toml.loads("a = " + "1" * 5000)


def test_a_document_is_read() -> None:
    assert toml.loads('a = 1\n[b]\nc = ["x"]\n') == {"a": 1, "b": {"c": ["x"]}}

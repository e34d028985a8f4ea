"""What the index of a code base says of identifiers and lines; that it reads them as the verifier does."""

from __future__ import annotations

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from locobench.reading import SHORTEST_LINE, WORD, CodeBase, fold, is_compound
from locobench.scoring.code_index import CodeIndex

ALPHABET = string.ascii_letters + string.digits + "_"
PARTS = ("get", "Cache", "HTTP", "ids", "colour", "2fa", "x", "Entries", "data", "DB", "_")
COMPOUNDS = st.lists(st.sampled_from(PARTS), min_size=1, max_size=5).map("".join)
WORDS = st.text(ALPHABET, min_size=1, max_size=12) | COMPOUNDS
LINES = st.text(st.characters(exclude_characters="\n\r\0", exclude_categories=["Cs"]), max_size=60)


def index(**files: str | bytes) -> CodeIndex:
    """Index files, whose names here have no dots."""
    return CodeIndex(files, ((path, text.encode() if isinstance(text, str) else text) for path, text in files.items()))


@given(st.lists(st.lists(WORDS, max_size=8), max_size=4))
def test_every_identifier_of_several_parts_is_known_in_its_files_and_in_no_others(files: list[list[str]]) -> None:
    found = index(**{f"f{number}": " ".join(words) for number, words in enumerate(files)})
    wanted: dict[str, set[int]] = {}
    for number, words in enumerate(files):
        for token in WORD.findall(" ".join(words)):
            if is_compound(token):
                wanted.setdefault(fold(token), set()).add(number)
    assert {name: set(places) for name, places in found.code.places.items()} == wanted


def test_a_word_of_one_part_is_an_identifier_where_it_is_called() -> None:
    found = index(a="nack", b="nack(tag)", c="if x: pass")
    assert found.code.places == {"nack": [1]}


def test_an_identifier_is_spelled_as_in_the_first_place_that_has_it() -> None:
    assert index(a="evictExpired", b="EVICT_EXPIRED evict_expired").names == {"evictexpired": "evictExpired"}


def test_a_files_identifiers_come_with_those_of_few_files_first() -> None:
    found = index(a="wide_name own_name an_own_name", b="wide_name")
    assert found.names_in("a") == ["anownname", "ownname", "widename"]
    assert found.names_in("nowhere") == []


@given(st.lists(LINES, max_size=8))
def test_the_verifier_knows_the_lines_of_three_words_or_more(lines: list[str]) -> None:
    found = index(a="\n".join(lines))
    long = [line for line in lines if len(re.findall(rb"[\w\x80-\xff]+", line.encode())) >= SHORTEST_LINE]
    assert set().union(*(found.code.without_copies(line)[1] for line in long)) == found.code.lines
    assert len(list(found.lines_in("a"))) == len(long)


@pytest.mark.parametrize(
    "files", [{}, {"a": ""}, {"a": " \n+-\n"}, {"a": "(((("}, {"a": b"\0evict_expired"}, {"a": b"\xff\xfe \xe2\x82"}]
)
def test_a_code_base_without_words_has_nothing(files: dict[str, str | bytes]) -> None:
    found = index(**files)
    assert not found.names
    assert not found.code.lines


def test_a_file_whose_name_is_no_text_can_be_named_by_nobody() -> None:
    found = CodeIndex(["a", "b\udcff"], [("a", b"one_name"), ("b\udcff", b"other_name")])
    assert (found.files, list(found.names)) == (["a"], ["onename"])


@given(st.lists(WORDS.map(lambda word: f"{word}_of_segment(counter) // generation"), max_size=8))
def test_the_key_says_what_the_index_says(lines: list[str]) -> None:
    found = index(a="\n".join(lines[:4]), b="\n".join(lines[4:]))
    read = CodeBase.read(found.stored)
    assert (dict(read.places), read.lines) == (dict(found.code.places), found.code.lines)

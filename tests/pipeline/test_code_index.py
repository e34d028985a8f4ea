"""What the index of a code base says of identifiers, passages and lines; that it reads words as the verifier does."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from locobench.scoring.code_index import CodeIndex
from locobench.scoring.code_words import PASSAGE_SIZE, Vocabulary
from locobench.scoring.verifier import verifier

verify = verifier()
ALPHABET = string.ascii_letters + string.digits + "_$éßIJK\N{KELVIN SIGN}\N{LATIN SMALL LETTER LONG S}"
PARTS = ("get", "Cache", "HTTP", "ids", "colour", "analyse", "2fa", "x", "Entries", "data", "mongo", "DB", "_", "$")
COMPOUNDS = st.lists(st.sampled_from(PARTS), min_size=1, max_size=5).map("".join)
WORDS = st.text(ALPHABET, min_size=1, max_size=12) | COMPOUNDS


def index(**files: str | bytes) -> CodeIndex:
    """Index files, whose names here have no dots."""
    return CodeIndex((path, text.encode() if isinstance(text, str) else text) for path, text in files.items())


def far(text: str) -> str:
    """Return the text with so much after it that the next line is in another passage."""
    return text + "\n" + "+" * PASSAGE_SIZE + "\n"


@given(st.lists(WORDS, max_size=20))
def test_many_words_at_once_are_read_as_the_verifier_reads_each(words: list[str]) -> None:
    read = Vocabulary(words)
    stems: list[set[str]] = [set() for _ in words]
    for word, stem in zip(read.stem_words.tolist(), read.word_stems.tolist(), strict=True):
        stems[word].add(read.stems[stem])

    assert read.symbols == [verify.symbol(word) for word in words]
    assert stems == [set(verify.stems(word)) for word in words]


@given(st.lists(st.lists(WORDS, max_size=8), max_size=4))
def test_every_identifier_of_several_parts_is_known_in_its_files_and_in_no_others(files: list[list[str]]) -> None:
    found = CodeIndex((str(number), " ".join(words).encode()) for number, words in enumerate(files))
    names = [{verify.symbol(word) for word in words} - {""} for words in files]

    assert set(found.names) == set().union(*names)
    for number, there in enumerate(names):
        assert {name for name in found.names if found.lookup.holds(str(number), name)} == there


def test_a_word_of_one_part_is_an_identifier_from_the_first_file_on_that_calls_it() -> None:
    found = index(a="nack", b="nack(tag)", c="nack")
    assert set(found.names) == {"nack"}
    assert [found.lookup.holds(path, "nack") for path in "abc"] == [False, True, True]


def test_an_identifier_is_spelled_as_in_the_first_file() -> None:
    assert index(a="evictExpired", b="EVICT_EXPIRED evict_expired").names == {"evictexpired": "evictExpired"}


def test_of_two_spellings_in_a_file_the_first_in_the_alphabet_is_kept() -> None:
    assert index(a="evict_expired EVICT_EXPIRED").names == {"evictexpired": "EVICT_EXPIRED"}


def test_a_call_whose_name_is_ascii_in_lower_case_alone_is_an_identifier() -> None:
    kelvin = "\N{KELVIN SIGN}nack"
    assert index(a=f"{kelvin}()").names == {"knack": kelvin}


def test_identifiers_in_few_files_are_rare() -> None:
    found = index(**{f"f{number}": "evict_expired" + " drop_tombstone" * (number < 3) for number in range(4)})
    assert found.rare == {"droptombstone"}
    assert found.lookup.is_rare("droptombstone")
    assert not found.lookup.is_rare("evictexpired")
    assert found.lookup.has("evictexpired")


def test_the_identifiers_of_several_passages_are_returned_once_and_sorted() -> None:
    found = index(a=far("evict_expired drop_tombstone") + "evict_expired add_segment")
    assert len(found.passages) == 2
    assert found.names_in(found.passages[1]) == ["addsegment", "evictexpired"]
    assert found.names_in(*found.passages) == ["addsegment", "droptombstone", "evictexpired"]
    assert found.names_in() == []


def test_passages_are_ranked_by_weight_and_rarity_and_those_with_nothing_left_out() -> None:
    found = index(a="evict_expired caches", b="evict_expired", c="unrelated", d="drop_tombstone caches")
    ranked = found.ranked({"cach": 1.0}, {"evictexpired": 1.0, "droptombstone": 1.0})
    assert [passage.path for passage in ranked] == ["d", "a", "b"]
    assert found.ranked({"nowhere": 1.0}, {"nothing": 1.0}) == []


def test_passages_of_equal_worth_stay_in_their_order() -> None:
    found = index(a="evict_expired", b="evict_expired", c="evict_expired")
    assert [passage.path for passage in found.ranked({}, {"evictexpired": 1.0})] == ["a", "b", "c"]


def test_a_line_of_many_files_cannot_be_quoted() -> None:
    shared, own = "segment_ring.skip(tombstone_ttl)", "if generation_counter: // of this file alone"
    found = index(**{f"f{number}": f"{shared}\n{own}{number}\n" for number in range(4)})
    assert found.quotable_lines_in(found.passages[0]) == [f"{own}0"]


def test_short_and_everyday_words_stand_before_the_others() -> None:
    found = index(a="the tombstone is in a ring; evict_expired x1")
    assert found.plain_words_in(found.passages[0]) == ["in", "is", "the", "ring", "tombstone"]


@pytest.mark.parametrize(
    "files", [{}, {"a": ""}, {"a": " \n+-\n"}, {"a": "(((("}, {"a": b"\0evict_expired"}, {"a": b"\xff\xfe \xe2\x82"}]
)
def test_a_code_base_without_words_has_nothing(files: dict[str, str | bytes]) -> None:
    found = index(**files)
    assert not found.names
    assert not found.rare
    assert found.ranked({"cach": 1.0}, {"evictexpired": 1.0}) == []


@given(st.lists(WORDS.map(lambda word: f"{word}_of_segment(counter) // generation"), max_size=8))
def test_the_key_says_what_the_index_says(lines: list[str]) -> None:
    found = index(a="\n".join(lines[:4]), b="\n".join(lines[4:]))
    read = verify.Index.read(found.stored)
    assert (read.rare, read.widespread, read.lines, read.starts) == (
        found.lookup.rare,
        found.lookup.widespread,
        found.lookup.lines,
        found.lookup.starts,
    )
    assert all(total in found.lookup.places for total in read.places)
    assert not any(total + 1 in found.lookup.places for total in read.places if total + 1 not in read.places)

"""How an answer is read: blocks of Markdown, identifiers, and the files that a text names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from locobench.reading import CODE, HEADING, PROSE, Files, Names, fold, is_compound, names_in, read_blocks

FILES = Files(
    [
        "src/cache/store.py", "src/cache/index.py", "src/web/index.py", "docs/api guide.md", "README.md", "src/a.c",
        "src/PriceCache.java",
    ],
)  # fmt: skip


def fenced(text: str) -> str:
    return "\n".join(block.text for block in read_blocks(text) if block.kind == CODE)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("see src/cache/store.py", {"src/cache/store.py"}),
        ("(`store.py`)", {"src/cache/store.py"}),
        ("store.py:42, README.md.", {"src/cache/store.py", "README.md"}),
        ("in /app/project/src/web/index.py", {"src/web/index.py"}),
        ("./src/web/index.py and cache/index.py", {"src/web/index.py", "src/cache/index.py"}),
        (r"src\web\index.py", {"src/web/index.py"}),
        ("store/src/a.c of the root folder", {"src/a.c"}),
        ("the docs/api guide.md says", {"docs/api guide.md"}),
        ("[the store](src/cache/store.py#L3-L9)", {"src/cache/store.py"}),
        ("index.py is ambiguous", set()),
        ("mystore.py, store.pyc, store.py2, xREADME.md, data.a.cc", set()),
        ("elsewhere/src/cache/store.py", {"src/cache/store.py"}),
        ("cache/" * 50_000 + "store.py", {"src/cache/store.py"}),
        ("x" * 50_000 + "README.md", set()),
        ("store", set()),
        ("PriceCache is a base name that is an identifier", {"src/PriceCache.java"}),
    ],
)
def test_files_are_named_by_path_unique_ending_or_unique_name(text: str, named: set[str]) -> None:
    assert FILES.named_in(text) == named


def test_a_path_longer_than_any_name_is_found_in_a_code_span() -> None:
    path = f"src/{'deeply/' * 12}nested_module_of_the_project.py"
    assert Files([path]).named_in(f"It is `{path}` that decides.") == {path}


def test_a_numbered_file_does_without_its_extension() -> None:
    files = Files(["src/module_7.txt", "src/module_70.txt", "src/step2.c", "lib/part_1.c", "lib/part_1.h"])
    said = "`module_7::rest` and _70 follow Step2; module_700 and part_1 (which of two?) do not"
    assert files.named_in(said) == {"src/module_7.txt"}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a\n```\nx\n```\nb", "x"),
        ("```python\nx\n```\n~~~\ny\n~~~", "x\ny"),
        ("````\n```\nx\n````\nb", "```\nx"),
        ("- item\n  ```\n  x\n  ```", "  x"),
        ("```\nopen\nto the end", "open\nto the end"),
        ("`inline`", ""),
    ],
)
def test_code_is_what_stands_in_fences(text: str, code: str) -> None:
    assert fenced(text) == code


def test_every_paragraph_item_row_and_heading_is_a_block_of_its_own() -> None:
    text = "## Title\nfirst\nline\n\nsecond\n- item\n  goes on\n1. number\n| a | b |\n> said"
    assert [tuple(block) for block in read_blocks(text)] == [
        (HEADING, "Title", 2),
        (PROSE, "first\nline", 0),
        (PROSE, "second", 0),
        (PROSE, "- item\ngoes on", 0),
        (PROSE, "1. number", 0),
        (PROSE, "| a | b |\n> said", 0),
    ]


@pytest.mark.parametrize(
    ("markdown", "meant"),
    [
        (r"evict\_expired", "evict_expired"),
        (r"src\web", r"src\web"),
        ("\x1b[31mred\x1b[0m", " red "),
    ],
)
def test_prose_is_read_as_it_is_meant(markdown: str, meant: str) -> None:
    assert [block.text for block in read_blocks(markdown)] == [meant.strip()]


@pytest.mark.parametrize(
    "spelling", ["evict_expired", "evictExpired", "EvictExpired", "EVICT_EXPIRED", "_evict_expired_"]
)
def test_an_identifier_has_one_form_however_it_is_spelled(spelling: str) -> None:
    assert is_compound(spelling)
    assert fold(spelling) == "evictexpired"


@pytest.mark.parametrize("word", ["IDs", "v1", "SHA256", "UTF8", "HTTP", "x_1", "expired", "größeFeld"])
def test_acronyms_versions_and_words_are_no_identifiers_of_several_parts(word: str) -> None:
    assert not is_compound(word)


def test_names_are_told_from_words_of_prose_by_how_they_are_presented() -> None:
    text = "`SegmentRing` calls free_tombstone and `Queue::nack`, then drop() on CloudFoundry; `queue` waits for more."
    assert names_in(text) == Names(
        certain={"segmentring", "freetombstone"}, possible={"cloudfoundry"}, simple={"nack", "drop", "queue"}
    )


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    for block in read_blocks(text):
        names_in(block.text)
        FILES.named_in(block.text)

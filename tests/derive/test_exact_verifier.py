"""The verifier of exact answers: what counts as the same item, and what an answer earns."""

from __future__ import annotations

from typing import Any

import pytest

from locobench.scoring import exact
from locobench.scoring.grading import as_answer
from tools.docs.formats_page import KEY as SHOP
from tools.docs.formats_page import right_answers, wrong_answers

ITEMS = ["src/a.py: Orders.place", "src/a.py: Orders.Orders", "src/b.py: read_basket", "lib/c.cc: <top level>"]
NAMES = {
    "src/a.py": ["Orders", "Orders.place", "Orders.__init__", "Other.again", "More.again"],
    "src/b.py": ["read_basket"],
    "lib/c.cc": [],
}
KEY: dict[str, Any] = {"measure": "f1", "project": "shop_1", "items": ITEMS, "names": NAMES, "grep": []}


def measure(text: str, **key: Any) -> dict[str, Any]:
    return exact.score(text, KEY | key)


def reward(*lines: str, **key: Any) -> float:
    return float(measure(as_answer(lines), **key)["reward"])


@pytest.mark.parametrize(
    "line",
    [
        "src/a.py: Orders.place", "./src/a.py: Orders.place", "/app/project/src/a.py: Orders.place",
        "src/a.py:Orders.place",
        "src\\a.py: Orders.place", "C:\\app\\project\\src\\a.py: Orders.place", "c:/app/project/src/a.py: Orders.place",
        "src/a.py: Orders::place", "src/a.py: Orders#place", "src/a.py: Orders->place", "src/a.py::Orders::place()",
        "- `src/a.py`: `Orders.place()`", "3. src/a.py: Orders.place(self, text)", "src/a.py: place",
        "src/a.py: shop.Orders.place", "src/a.py: Orders<T>.place", "src/a.py: Orders[T].place",
        "src/a.py: Orders<E, S>.place", "src/a.py: *Orders.place", "src/a.py: func (o *Orders[T]) place() T",
        "src/a.py: func place[K comparable, V any](m map[K]V) []V",
    ],
)  # fmt: skip
def test_one_item_may_be_written_in_many_ways(line: str) -> None:
    assert measure(as_answer([line]))["wrong"] == []
    assert reward(line) == pytest.approx(2 / 5)


def test_a_constructor_is_called_by_its_own_name_or_by_its_class() -> None:
    assert [reward(f"src/a.py: {name}") for name in ("Orders.Orders", "Orders.__init__", "Orders")] == [0.4, 0.4, 0.4]
    assert [reward(f"src/a.py: {name}") for name in ("__init__", "def __init__(self)", "constructor")] == [
        0.4,
        0.4,
        0.4,
    ]
    two = {"src/a.py": ["Orders.__init__", "Other.__init__"]}
    assert reward("src/a.py: __init__", names=two) == 0.0


def test_a_bare_name_that_two_things_have_counts_for_neither() -> None:
    assert reward("src/a.py: again", items=["src/a.py: Other.again"]) == 0.0


def test_the_oracle_earns_one_and_silence_nothing() -> None:
    assert reward(*ITEMS) == 1.0
    assert measure("")["reward"] == 0.0
    assert measure("I looked at src/b.py: read_basket.")["reward"] == 0.0


def test_only_the_last_block_labelled_answer_counts() -> None:
    text = (
        as_answer(ITEMS)
        + "\nNo, rather:\n\n"
        + as_answer(["src/b.py: read_basket"])
        + "\n```python\nsrc/a.py: place\n```"
    )
    assert measure(text)["reward"] == pytest.approx(2 / 5)


def test_precision_recall_files_and_what_was_missed_are_told() -> None:
    told = measure(as_answer(["src/b.py: read_basket", "src/a.py: nothing"]))
    assert (told["precision"], told["recall"]) == (0.5, 0.25)
    assert told["file_f1"] == pytest.approx(0.8)
    assert told["wrong"] == ["src/a.py: nothing"]
    assert len(told["missed"]) == 3


def test_of_a_longer_list_only_the_beginning_counts() -> None:
    padding = [f"src/x.py: f{number}" for number in range(22)]
    assert reward(*padding, *ITEMS) == 0.0
    assert reward(*ITEMS, *padding) == pytest.approx(2 * 4 / (4 + 22))


def test_in_the_history_recall_counts_more() -> None:
    half, double = reward(*ITEMS[:2], measure="f2"), reward(*ITEMS, *[f"x.py: f{n}" for n in range(4)], measure="f2")
    assert half == pytest.approx(5 * 0.5 / (4 + 0.5))
    assert double == pytest.approx(5 * 0.5 / (4 * 0.5 + 1))


def test_files_alone_are_items_where_files_are_asked_for() -> None:
    assert reward("./src/a.py", "`src/b.py`", items=["src/a.py", "src/b.py"], names={}) == 1.0


@pytest.mark.parametrize(
    "text",
    [
        "```answer\n" + "x" * 300_000,
        "```answer\n" + ":\n" * 90,
        "```answer\n\x00: \x01\n```",
        "~~~answer\n(((((((\n",
        "```answer\n" + "[" * 100_000,
        "```answer\n" + ("./" * 500 + "\n") * 260,
    ],
)
def test_hostile_answers_earn_nothing_and_break_nothing(text: str) -> None:
    assert measure(text)["reward"] == 0.0


def test_every_format_of_the_right_answer_earns_everything() -> None:
    rewards = {title: exact.score(text, key)["reward"] for title, (text, key) in right_answers().items()}
    assert len(rewards) == 68
    assert {title: reward for title, reward in rewards.items() if reward < 1} == {}


@pytest.mark.parametrize(
    ("title", "found", "right"),
    [
        ("another name, the right one in a remark", 2, 0),
        ("prose with all files and names", 1, 0),
        ("the three and as many others", 6, 3),
        ("every name of the three files", 11, 3),
    ],
)
def test_reading_more_gives_no_more_to_wrong_answers(title: str, found: int, right: int) -> None:
    told = exact.score(wrong_answers()[title], SHOP)
    assert (told["precision"], len(told["wrong"])) == (pytest.approx(right / found, abs=1e-6), found - right)


@pytest.mark.parametrize(
    "line", ["src/a.py: (*Orders).place", "src/a.py: func (o *Orders) place(x int) error", "src/a.py > Orders.place"]
)
def test_receivers_and_signatures_name_the_method(line: str) -> None:
    assert measure(as_answer([line]))["wrong"] == []


@pytest.mark.parametrize(
    "name", ["<top level>", "top-level code", "module level", "(module)", "<module>", "file scope"]
)
def test_the_top_level_has_many_names(name: str) -> None:
    assert measure(as_answer([f"lib/c.cc: {name}  # runs at import"]))["wrong"] == []


def test_several_names_of_a_file_may_stand_on_a_line() -> None:
    assert reward("lib/c.cc: <top level>", "src/a.py: Orders.place, Orders(x, y), more, <top level>") == pytest.approx(
        6 / 9, abs=1e-6
    )


def test_paths_with_blanks_and_brackets_are_read() -> None:
    path = "Studio App/src/[id].ts"
    key = {"project": "p", "items": [f"{path}: load"], "names": {path: ["load", "save"]}}
    assert reward("- `Studio App/src/[id].ts`: `load()` - reads it", **key) == 1.0

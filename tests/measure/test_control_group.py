"""Groups of derived tasks: the control group, the history, and what `compare` says of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.models import EvalResult
from locobench.harbor.task import TaskFolder
from measure.compare.comparison import compare
from tests.support.results import run


def arm(control: float, other: float) -> list[EvalResult]:
    def one(name: str, score: float, groups: dict[str, str]) -> EvalResult:
        return run(name, score=score, groups=groups)

    easy: dict[str, Any] = {"control_group": "yes", "kind": "direct_users"}
    hard: dict[str, Any] = {"control_group": "no", "kind": "users_in_steps"}
    return [one(f"c{n}", control, easy) for n in range(8)] + [one(f"t{n}", other, hard) for n in range(8)]


def told(a: list[EvalResult], b: list[EvalResult]) -> list[str]:
    return [line for line in compare(a, b, metric="score").warnings if line.startswith("The control group")]


def test_a_control_group_that_did_not_move_is_no_reason_to_doubt() -> None:
    assert not told(arm(0.9, 0.2), arm(0.9, 0.8))


def test_five_tasks_that_all_moved_are_not_said_to_stand_still() -> None:
    a, b = arm(0.5, 0.2), arm(0.9, 0.2)
    few = [[r for r in results if r.task_id not in {"c5", "c6", "c7"}] for results in (a, b)]
    (line,) = told(*few)
    assert "is too small to show whether it moved: +40.0 points over 5 tasks (p = 0.062)" in line


def test_a_control_group_that_moved_is_a_warning() -> None:
    (line,) = told(arm(0.5, 0.2), arm(0.9, 0.8))
    assert line.startswith("The control group moved: +40.0 points over 8 tasks")
    assert "find it before you trust the difference" in line


def test_tasks_without_a_control_group_are_not_told_of_one() -> None:
    assert not told([run(f"t{n}") for n in range(8)], [run(f"t{n}") for n in range(8)])


def test_kinds_and_tiers_are_groups_of_a_comparison() -> None:
    slices = compare(arm(0.9, 0.2), arm(0.9, 0.8), metric="score").slices
    assert {(one.dimension, one.value) for one in slices} >= {("kind", "users_in_steps"), ("control_group", "yes")}


def test_a_task_folder_tells_its_groups(tmp_path: Path) -> None:
    text = '[metadata.derived]\nkind = "subtypes"\ntier = "syntax"\ncontrol_group = false\n'
    (tmp_path / "task.toml").write_text(text)
    derived = TaskFolder.read(tmp_path).toml.metadata.derived
    assert derived is not None
    assert derived.groups == {"kind": "subtypes", "tier": "syntax", "control_group": "no"}


@pytest.mark.parametrize(
    ("after", "server", "expected"),
    [(1.0, True, 1), (1.0, False, 0), (0.8, True, 0), (0.2, True, 0)],
    ids=["a rise behind a server", "a rise without one", "no change", "a fall"],
)
def test_a_server_may_give_answers_from_the_history_away(after: float, server: bool, expected: int) -> None:
    def history(score: float, **trace: Any) -> list[EvalResult]:
        return [run(f"h{n}", score=score, groups={"tier": "history"}, **trace) for n in range(8)]

    offered = {"trace": {"offered": {"servers": {"search": "connected"} if server else {}}}}
    found = compare(history(0.8), history(after, **offered), metric="score").warnings
    assert (
        sum(line.startswith("Questions from the history gained +20.0 points over 8 tasks") for line in found)
        == expected
    )

"""headroom: what a pilot says the tasks can show, and what to do about it."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from measure.summary.headroom import pilot_headroom
from tests.support.made_jobs import made_job
from tests.support.results import results_json, run
from tests.support.suite import harness


def headroom(root: Path, scores: Sequence[float], *more: str) -> subprocess.CompletedProcess[str]:
    kinds = ("importers", "subtypes")
    results = [
        run(
            f"t{n}",
            passed=score >= 0.7,
            score=score,
            groups={"kind": kinds[n % 2], "repository": "mine"},
            language="go",
            cost=0.5,
        )
        for n, score in enumerate(scores)
    ]
    (root / "pilot.json").write_text(results_json(results))
    return harness(root, "headroom", "pilot.json", *more)


def test_room_is_told_by_kind_language_and_repository(tmp_path: Path) -> None:
    done = headroom(tmp_path, [1.0, 0.0, 1.0, 0.5])
    assert done.returncode == 0, done.stderr
    rows = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines() if line.strip()}
    # tasks, mean, share at 1.0, share at 0, spread
    assert rows["importers"][:7] == ["2", "1.00", "100", "%", "0", "%", "0.00"]
    assert rows["subtypes"][:7] == ["2", "0.25", "0", "%", "50", "%", "0.25"]
    assert rows["go"][0] == rows["mine"][0] == rows["all"][0] == "4"
    assert "rise on such tasks is 37.5 points, the largest fall 62.5" in done.stdout


def test_with_room_that_the_design_finds_the_advice_is_to_go_on(tmp_path: Path) -> None:
    done = headroom(tmp_path, [0.3, 0.5, 0.7, 0.4, 0.6] * 6)
    assert done.stdout.splitlines()[-1].startswith("Go on: there is room for a rise")
    assert "select_tasks.py --pilot pilot.json` selects those between 0 and 1 first (30 of 30)" in done.stdout


def test_at_the_ceiling_the_advice_is_to_ask_about_cost_only(tmp_path: Path) -> None:
    done = headroom(tmp_path, [1.0] * 45 + [0.6])
    assert done.stdout.splitlines()[-1].startswith("Ask about cost only: 45 of 46 tasks are at the ceiling")
    assert ", but no rise" in done.stdout


def test_where_nothing_was_solved_the_advice_is_to_take_other_tasks(tmp_path: Path) -> None:
    assert (
        headroom(tmp_path, [0.0] * 30).stdout.splitlines()[-1].startswith("Take other tasks: the agent earned nothing")
    )


def test_too_few_tasks_find_nothing_and_more_of_them_do(tmp_path: Path) -> None:
    few = [0.5, 0.6, 0.7, 0.8]
    assert headroom(tmp_path, few).stdout.splitlines()[-1].startswith("Take other tasks, or more of them")
    assert headroom(tmp_path, few, "--tasks", "50").stdout.splitlines()[-1].startswith("Go on")


def test_the_full_set_is_priced_by_the_pilot(tmp_path: Path) -> None:
    shown = headroom(tmp_path, [0.5] * 4, "--tasks", "10", "--attempts", "2").stdout
    assert "10 tasks x 2 x 2 arms cost about $20.00" in shown


def test_more_runs_of_a_task_find_less() -> None:
    found = pilot_headroom([run(f"t{n}", score=0.2 + 0.1 * (n % 5)) for n in range(30)])
    one, four = (found.noise.finds(1, 30, attempts) for attempts in (1, 4))
    assert one is not None
    assert four == pytest.approx(one / 2)


def test_all_runs_alike_do_not_mean_that_runs_do_not_vary() -> None:
    fall = pilot_headroom([run(f"t{n}", score=1.0) for n in range(30)]).noise.finds(-1, 30, 3)
    assert fall is not None
    assert fall > 0.02


def test_a_harbor_job_is_a_pilot(tmp_path: Path) -> None:
    job = made_job(tmp_path, "pilot", tasks=12, runs=1, seed=1, reward=0.5)
    done = harness(tmp_path, "headroom", str(job))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith("Go on")


def test_two_arms_are_no_pilot(tmp_path: Path) -> None:
    (tmp_path / "pilot.json").write_text(results_json([run("t", "x"), run("t", "y")]))
    done = harness(tmp_path, "headroom", "pilot.json")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "holds 2 arms (x | m, y | m), and a pilot has one" in done.stderr


def test_a_pilot_that_measured_nothing_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "pilot.json").write_text(results_json([run("t", outcome="infra_error")]))
    done = harness(tmp_path, "headroom", "pilot.json")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "no run was measured" in done.stderr

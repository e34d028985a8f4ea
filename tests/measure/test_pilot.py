"""Runs by which tasks were selected: `compare` leaves them out and says so."""

from __future__ import annotations

import json
from pathlib import Path

from harness.models import EvalResult
from measure.compare.comparison import compare, compare_arms
from tests.measure.test_harbor import write_trial
from tests.support.results import run
from tests.support.suite import harness


def arm(prefix: str, score: float, pilot: bool = False) -> list[EvalResult]:
    """Eight tasks; with `pilot`, the runs `a0` to `a7` selected them."""
    runs = [run(f"t{n}", score=score, run_id=f"{prefix}{n}") for n in range(8)]
    return [one.model_copy(update={"pilot_runs": (f"a{n}",)}) for n, one in enumerate(runs)] if pilot else runs


def test_a_pilots_runs_count_in_no_arm_whichever_arm_names_them() -> None:
    pilot, again, other = arm("a", 0.0), arm("c", 0.6), arm("b", 0.6, pilot=True)
    found = compare([*pilot, *again], other, metric="score")
    assert found.primary is not None
    assert (found.primary.mean_a, found.primary.difference) == (0.6, 0.0)
    assert (found.pilot_a, found.pilot_b, found.loss.a.planned) == (8, 0, 8)


def test_that_runs_were_left_out_is_said_first() -> None:
    found = compare([*arm("a", 0.0), *arm("c", 0.6)], arm("b", 0.6, pilot=True), label_a="without", metric="score")
    assert found.warnings[0].startswith("Left out: 8 runs of without, by which these tasks were selected")


def test_an_arm_of_the_pilot_alone_gives_no_verdict() -> None:
    assert compare(arm("a", 0.0), arm("b", 0.6, pilot=True), metric="score").verdict == "not enough data"


def test_of_several_arms_each_leaves_out_its_own() -> None:
    arms = [("x", [*arm("a", 0.0), *arm("c", 0.5)]), ("y", arm("b", 0.6, pilot=True)), ("z", arm("d", 0.6))]
    found = compare_arms(arms, metric="score")
    assert [(pair.pilot_a, pair.pilot_b) for pair in (*found.comparisons, *found.between)] == [(8, 0), (8, 0), (0, 0)]
    assert found.arms["x"] is not None
    assert found.arms["x"].mean == 0.5


def test_a_harbor_job_takes_the_pilots_runs_from_its_tasks(tmp_path: Path) -> None:
    for n in range(8):
        task = tmp_path / f"tasks/t{n}"
        task.mkdir(parents=True)
        (task / "task.toml").write_text(f'[metadata]\npilot_runs = ["pilot-{n}"]\n')
        for job, name, reward in (("a", f"pilot-{n}", 0.0), ("a", f"new-{n}", 0.5), ("b", f"b-{n}", 0.5)):
            path = {"path": str(task)}
            write_trial(tmp_path / "jobs", job=job, name=name, task=f"t{n}", reward=reward, task_id=path, id=name)
    done = harness(tmp_path, "compare", "jobs/a", "jobs/b", "--json", "c.json", "--html", "c.html")
    assert "Left out: 8 runs of a, by which these tasks were selected" in done.stdout
    told = json.loads((tmp_path / "c.json").read_text())
    assert (told["decision"]["difference"], told["pilot_a"]) == (0.0, 8)
    assert "pilot-0" not in (tmp_path / "c.html").read_text()

"""Jobs in the order of time."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from harness.compare.trend import find_trend
from harness.models import EvalResult
from harness.results.files import results_json
from tests.support.results import run
from tests.support.suite import harness

START = datetime(2026, 1, 1, tzinfo=UTC)


def job(day: int, scores: dict[str, list[float]]) -> tuple[str, list[EvalResult]]:
    started = START + timedelta(days=day)
    runs = [
        run(task, score=score, passed=score >= 0.7, index=index, started_at=started)
        for task, of_task in scores.items()
        for index, score in enumerate(of_task)
    ]
    return f"day-{day}", runs


def steady(day: int, score: float) -> tuple[str, list[EvalResult]]:
    return job(day, {f"t{number}": [score, score] for number in range(6)})


def test_jobs_stand_in_the_order_of_time_however_they_are_named() -> None:
    assert [point.name for point in find_trend([steady(3, 0.5), steady(1, 0.5)]).points] == ["day-1", "day-3"]


def test_each_task_counts_alike_whatever_its_runs() -> None:
    (point,) = find_trend([job(0, {"often": [1.0] * 9, "once": [0.0]})]).points
    assert point.mean == 0.5


def test_the_slope_is_that_of_the_last_ten_jobs() -> None:
    early = [steady(day, 1.0) for day in range(5)]
    trend = find_trend([*early, *(steady(5 + day, day / 20) for day in range(10))])
    assert trend.slope == pytest.approx(0.05)
    assert trend.slope_jobs == 10


def test_two_jobs_have_no_slope() -> None:
    assert find_trend([steady(0, 0.1), steady(1, 0.9)]).slope is None


def test_the_interval_knows_of_runs_as_well_as_of_tasks() -> None:
    """Tasks with one mean and runs that disagree: over tasks alone the interval would have no width."""
    (point,) = find_trend([job(0, {f"t{number}": [0.0, 1.0] for number in range(8)})]).points
    assert point.interval is not None
    assert point.interval.high - point.interval.low > 0.2


def test_a_task_moved_when_chance_does_not_explain_it() -> None:
    low, high = [0.1 + run / 100 for run in range(6)], [0.8 + run / 100 for run in range(6)]
    before = job(0, {"moved": low, "noisy": [0.1, 0.9] * 3, "same": [0.5] * 6})
    after = job(1, {"moved": high, "noisy": [0.5, 1.0] * 3, "same": [0.5] * 6})
    (drift,) = find_trend([before, after]).moved
    assert (drift.task, drift.job) == ("moved", "day-1")
    assert drift.change == pytest.approx(0.7)


def test_without_a_trend_hardly_any_task_of_many_steps_is_named() -> None:
    rng = random.Random(3)
    jobs = [job(day, {f"t{task}": [rng.random() for _ in range(3)] for task in range(30)}) for day in range(10)]
    assert find_trend(jobs).moved == ()


def test_another_number_of_runs_is_named() -> None:
    drifts = find_trend([job(0, {"a": [1.0], "b": [1.0]}), job(1, {"a": [1.0, 1.0]})]).attempts
    assert [(d.task, d.runs_before, d.runs_after, d.after) for d in drifts] == [("a", 1, 2, 1.0), ("b", 1, 0, None)]


def test_a_job_without_a_measured_run_has_no_mean() -> None:
    lost = ("lost", [run("t0", passed=False, outcome="infra_error", started_at=START)])
    point = find_trend([lost, steady(1, 0.5)]).points[0]
    assert (point.mean, point.interval, point.lost) == (None, None, 1)


def test_the_command_prints_and_writes_the_trend(tmp_path: Path) -> None:
    for day in range(3):
        name, results = steady(day, day / 4)
        (tmp_path / f"{name}.json").write_text(results_json(results))
    shown = harness(tmp_path, "trend", "day-2.json", "day-0.json", "day-1.json", "--json", "t.json", "--html", "t.html")
    assert shown.returncode == 0, shown.stderr
    assert "changed by +25.0 points from one job to the next" in " ".join(shown.stdout.split())
    assert [p["name"] for p in json.loads((tmp_path / "t.json").read_text())["points"]] == ["day-0", "day-1", "day-2"]
    assert "<svg" in (tmp_path / "t.html").read_text()


def test_one_job_is_no_trend(tmp_path: Path) -> None:
    shown = harness(tmp_path, "trend", "one.json")
    assert (shown.returncode, "one job shows no trend" in shown.stderr) == (2, True)

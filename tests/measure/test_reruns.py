"""Several jobs in one folder: which are one config, and which trials stand for which."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from measure.records import EvalResult
from measure.results.harbor import load_jobs
from tests.measure.test_harbor import write_trial
from tests.support.suite import harness

LOST: dict[str, Any] = {"exception": "ApiOverloadedError", "reward": None}


def job(jobs: Path, name: str, *tasks: str, day: int = 1, lost: str = "", planned: int = 0, **more: Any) -> None:
    """Write a job of one trial for each task; those in `lost` failed."""
    for number, task in enumerate(tasks):
        failed = LOST if task in lost.split() else {}
        started = f"2026-11-{day:02d}T10:00:00Z"
        trial = f"{task}__{name}{number}"
        write_trial(jobs, job=name, name=trial, task=task, started=started, **{**failed, **more})
    told = {"n_total_trials": planned or len(tasks), "finished_at": None if planned else "2026-11-28T00:00:00Z"}
    (jobs / name / "result.json").write_text(json.dumps(told))


def read(jobs: Path) -> list[EvalResult]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return load_jobs(jobs)


def test_trials_that_were_lost_and_run_again_count_as_the_later_ones(tmp_path: Path) -> None:
    job(tmp_path / "with", "run1", "a", "b", "c", lost="b c")
    job(tmp_path / "with", "run2", "b", "c", day=2)
    with pytest.warns(UserWarning, match="lost trials that a later job ran again count as the later run: 2"):
        results = load_jobs(tmp_path / "with")
    assert [(r.task_id, r.measured, r.config_name, r.attempts) for r in results] == [
        ("a", True, "with", 1),
        ("b", True, "with", 2),
        ("c", True, "with", 2),
    ]
    assert results[1].retry_cost_usd == 0.25
    assert results[0].batch is not None
    assert (results[0].batch.planned, results[0].batch.present, results[0].batch.finished) == (3, 3, True)


def test_a_trial_that_was_lost_again_is_lost_once(tmp_path: Path) -> None:
    job(tmp_path, "run1", "a", "b", lost="b")
    job(tmp_path, "run2", "b", day=2, lost="b")
    job(tmp_path, "run3", "b", day=3, lost="b")
    assert [(r.task_id, r.measured, r.attempts) for r in read(tmp_path)] == [("a", True, 1), ("b", False, 3)]


def test_a_job_that_repeats_measured_runs_is_a_repetition_and_replaces_none(tmp_path: Path) -> None:
    """Or it is another arm, whose difference Harbor does not record."""
    job(tmp_path, "run1", "a", "b", lost="b")
    job(tmp_path, "run2", "a", "b", day=2)
    results = read(tmp_path)
    assert [(r.task_id, r.config_name, r.measured) for r in results] == [
        ("a", "run1", True),
        ("a", "run2", True),
        ("b", "run1", False),
        ("b", "run2", True),
    ]


def test_one_of_several_attempts_that_was_lost_is_replaced_alone(tmp_path: Path) -> None:
    job(tmp_path, "run1", "a", "a")
    write_trial(tmp_path, job="run1", name="a__lost", task="a", **LOST)
    job(tmp_path, "run2", "a", day=2)
    assert [(r.run_index, r.measured) for r in read(tmp_path)] == [(0, True), (1, True), (2, True)]


def test_a_job_for_each_task_is_one_config(tmp_path: Path) -> None:
    for task in "abc":
        job(tmp_path / "base", f"fix_{task}", task)
    assert {r.config_name for r in read(tmp_path / "base")} == {"base"}
    shown = harness(tmp_path, "report", "base")
    assert "3/3" in shown.stdout


def test_a_job_that_ran_what_another_had_not_started_fills_it_up(tmp_path: Path) -> None:
    job(tmp_path, "run1", "a", planned=3)
    job(tmp_path, "run2", "b", "c", day=2)
    (batch,) = {(r.batch.planned, r.batch.present, r.batch.finished) for r in read(tmp_path) if r.batch}
    assert batch == (3, 3, True)


def test_arms_in_one_folder_stay_two_configs(tmp_path: Path) -> None:
    for task, day in (("a", 1), ("b", 2)):
        job(tmp_path, f"{task}_plain", task, day=day)
        served = {"name": "claude-code", "mcp_servers": [{"name": "search"}]}
        job(tmp_path, f"{task}_served", task, day=day, agent=served)
    names = {(r.config_name, r.task_id) for r in read(tmp_path)}
    top = tmp_path.name
    assert names == {(f"{top}/claude-code{more}", task) for task in "ab" for more in ("", "+search")}


def test_jobs_over_the_same_tasks_stay_apart_even_if_others_could_be_joined(tmp_path: Path) -> None:
    """Their treatment may be in the tasks or the image, which an agent's configuration does not show."""
    for name, tasks in (("one", "a"), ("two", "a"), ("three", "b")):
        job(tmp_path, name, *tasks)
    assert {r.config_name for r in read(tmp_path)} == {"one", "two", "three"}

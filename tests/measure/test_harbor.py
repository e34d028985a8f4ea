"""How Harbor trials become results."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from harness.models import ErrorKind, Outcome
from locobench.harbor.task import TaskFolder
from locobench.shared.errors import InputError
from measure.compare.comparison import compare
from measure.results.files import load_results
from measure.results.harbor import load_jobs
from tests.support.suite import harness

SETUP = ["AgentSetupTimeoutError", "EnvironmentStartTimeoutError", "HealthcheckError"]


def write_trial(
    jobs: Path,
    *,
    job: str = "with-search",
    name: str = "task_a__x1",
    task: str = "task_a",
    reward: float | None = 1.0,
    exception: str | None = None,
    agent: dict[str, Any] | None = None,
    started: str = "2026-11-21T10:00:00Z",
    **more: Any,
) -> Path:
    folder = jobs / job / name
    (folder / "verifier").mkdir(parents=True)
    trial = {
        "task_name": f"bench/{task.replace('_', '-')}",
        "trial_name": name,
        "task_id": {"path": f"tasks/{task}"},
        "task_checksum": "c0ffee",
        "config": {"agent": agent or {"name": "claude-code", "model_name": "anthropic/m", "mcp_servers": []}},
        "agent_info": {
            "name": "claude-code",
            "version": "2.1.330",
            "model_info": {"name": "m", "provider": "p"},
        },
        "agent_result": {"n_input_tokens": 100, "n_cache_tokens": 80, "n_output_tokens": 7, "cost_usd": 0.25},
        "verifier_result": None if reward is None else {"rewards": {"reward": reward}},
        "exception_info": exception and {"exception_type": exception, "exception_message": "why\nso"},
        "started_at": started,
        "finished_at": "2026-11-21T10:05:00Z",
        "agent_execution": {"started_at": "2026-11-21T10:01:00Z", "finished_at": "2026-11-21T10:04:00Z"},
        "verifier": {"started_at": "2026-11-21T10:04:00Z", "finished_at": "2026-11-21T10:04:02Z"},
        "step_results": None,
        **more,
    }
    (folder / "result.json").write_text(json.dumps(trial))
    (jobs / job / "result.json").write_text(json.dumps({"n_total_trials": 1, "stats": {}}))
    return folder


def test_a_trial_becomes_a_result(tmp_path: Path) -> None:
    folder = write_trial(tmp_path)
    (folder / "verifier/metrics.json").write_text('{"reward": 1, "components": {"files": 0.5, "count": 7}}')
    (folder / "verifier/test-stdout.txt").write_text("all good\n")
    (result,) = load_jobs(tmp_path / "with-search")
    assert (result.task_id, result.config_name, result.model, result.run_index) == (
        "task_a",
        "with-search",
        "m",
        0,
    )
    assert (result.outcome, result.passed, result.overall_score) == (Outcome.COMPLETED, True, 1.0)
    assert (result.cost_usd, result.claude_code_version) == (0.25, "2.1.330")
    assert result.trace.duration_seconds == 180
    assert result.fingerprints.task == "c0ffee"
    assert result.source == str(folder)
    (grade,) = result.grades
    assert [(c.criterion, c.score) for c in grade.criteria_scores] == [("files", 0.5)]
    assert grade.full_output == "all good\n"


def test_cached_tokens_are_not_counted_twice(tmp_path: Path) -> None:
    write_trial(tmp_path)
    usage = load_jobs(tmp_path)[0].trace.usage
    assert usage is not None
    assert (usage.input_tokens, usage.cache_read_tokens, usage.output_tokens) == (20, 80, 7)


def test_steps_of_a_trial_are_added_up(tmp_path: Path) -> None:
    step = {"agent_result": {"n_input_tokens": 10, "n_output_tokens": 2, "cost_usd": 0.1}}
    write_trial(tmp_path, agent_result=None, step_results=[step, step])
    result = load_jobs(tmp_path)[0]
    assert result.tokens == 24
    assert result.cost_usd == pytest.approx(0.2)


def test_what_was_not_recorded_is_unknown_and_not_0(tmp_path: Path) -> None:
    write_trial(tmp_path, agent_result=None, agent_execution=None)
    result = load_jobs(tmp_path)[0]
    assert (result.cost_usd, result.tokens) == (None, None)
    assert (result.trace.duration_seconds, result.trace.num_turns) == (None, None)


def test_tokens_of_one_direction_alone_are_not_taken_for_all(tmp_path: Path) -> None:
    write_trial(tmp_path, agent_result={"n_output_tokens": 7})
    assert load_jobs(tmp_path)[0].tokens is None


ENDINGS = [
    ("AgentTimeoutError", Outcome.TIMEOUT, ErrorKind.TIME_LIMIT),
    ("ApiRateLimitError", Outcome.INFRA_ERROR, ErrorKind.RATE_LIMIT),
    ("ApiOverloadedError", Outcome.INFRA_ERROR, ErrorKind.OVERLOADED),
    ("AgentAuthenticationError", Outcome.INFRA_ERROR, ErrorKind.AUTH),
    ("ContextWindowExceededError", Outcome.AGENT_ERROR, ErrorKind.AGENT_STOPPED),
    ("NonZeroAgentExitCodeError", Outcome.AGENT_ERROR, ErrorKind.AGENT_STOPPED),
    ("SomethingNew", Outcome.INFRA_ERROR, ErrorKind.API_ERROR),
    *[(name, Outcome.SETUP_ERROR, ErrorKind.FIXTURE) for name in SETUP],
]


@pytest.mark.parametrize(("exception", "outcome", "kind"), ENDINGS, ids=[row[0] for row in ENDINGS])
def test_exceptions_decide_the_outcome(tmp_path: Path, exception: str, outcome: Outcome, kind: ErrorKind) -> None:
    write_trial(tmp_path, exception=exception, reward=1.0)
    result = load_jobs(tmp_path)[0]
    assert (result.outcome, result.trace.error_kind) == (outcome, kind)
    assert result.passed == result.measured
    assert result.trace.error == f"{exception}: why so"


def test_a_crash_without_a_reward_says_nothing_about_the_agent(tmp_path: Path) -> None:
    write_trial(tmp_path, exception="NonZeroAgentExitCodeError", reward=None)
    assert load_jobs(tmp_path)[0].outcome is Outcome.INFRA_ERROR


@pytest.mark.parametrize("exception", ["RewardFileNotFoundError", "VerifierTimeoutError", None])
def test_a_trial_that_was_not_graded_is_not_measured(tmp_path: Path, exception: str | None) -> None:
    """Harbor's own mean counts it as 0."""
    folder = write_trial(tmp_path, exception=exception, reward=None)
    (folder / "verifier/test-stdout.txt").write_text("")
    result = load_jobs(tmp_path)[0]
    assert (result.trace.error_kind, result.measured) == (ErrorKind.GRADING, False)


def test_tests_that_never_started_had_no_container(tmp_path: Path) -> None:
    """The shell makes the file of their output before it starts them."""
    write_trial(tmp_path, exception="RewardFileNotFoundError", reward=None)
    result = load_jobs(tmp_path)[0]
    assert (result.trace.error_kind, result.measured) == (ErrorKind.KILLED, False)
    assert "the tests never started" in result.trace.error


def test_a_reward_below_the_pass_score_fails_and_keeps_its_score(tmp_path: Path) -> None:
    write_trial(tmp_path, reward=0.6)
    assert [(r.passed, r.overall_score) for r in load_jobs(tmp_path)] == [(False, 0.6)]


@pytest.mark.parametrize("reward", [1.5, -0.1, 53.8])
def test_a_reward_outside_of_0_to_1_is_refused_with_its_file(tmp_path: Path, reward: float) -> None:
    folder = write_trial(tmp_path, reward=reward)
    with pytest.raises(InputError, match=f"rewards.reward is {reward:g}, not between 0 and 1") as caught:
        load_jobs(tmp_path)
    assert str(folder / "result.json") in str(caught.value)


@pytest.mark.parametrize("exception", ["AgentTimeoutError", "ContextWindowExceededError"])
def test_an_agent_that_failed_and_left_no_reward_scored_0(tmp_path: Path, exception: str) -> None:
    write_trial(tmp_path, exception=exception, reward=None)
    (result,) = load_jobs(tmp_path)
    assert (result.measured, result.overall_score, result.passed) == (True, 0.0, False)
    assert result.trace.error.startswith(exception)


def test_a_verifier_that_raised_lost_the_run_and_its_last_line_is_told(tmp_path: Path) -> None:
    folder = write_trial(tmp_path, reward=0.0)
    said = (
        "Traceback (most recent call last):\n"
        '  File "/tests/verify.py", line 3, in <module>\n    main()\n    ~~~~^^\n'
        '  File "/tests/verify.py", line 2, in main\n'
        "KeyError: 'ground_truth'\n"
    )
    (folder / "verifier/test-stdout.txt").write_text(said)
    (result,) = load_jobs(tmp_path)
    assert (result.measured, result.trace.error_kind) == (False, ErrorKind.GRADING)
    assert "KeyError: 'ground_truth'" in result.why


def test_a_zero_that_a_verifier_gave_after_a_traceback_in_an_answer_counts(tmp_path: Path) -> None:
    folder = write_trial(tmp_path, reward=0.0)
    (folder / "verifier/test-stdout.txt").write_text("Traceback (most recent call last):\nof the agent's program\n")
    (folder / "verifier/metrics.json").write_text('{"components": {"files": 0.0}}')
    assert load_jobs(tmp_path)[0].measured


def test_a_copied_job_is_no_further_data(tmp_path: Path) -> None:
    for number in range(3):
        write_trial(tmp_path, name=f"task_{number}__x", task=f"task_{number}")
    shutil.copytree(tmp_path / "with-search", tmp_path / "with-search-copy")
    with pytest.warns(UserWarning, match="with-search-copy: left out 3 copies of trials"):
        assert len(load_jobs(tmp_path)) == 3


def test_two_tasks_of_one_name_in_a_job_are_refused(tmp_path: Path) -> None:
    write_trial(tmp_path, name="a", task_id={"path": "one/task_a"}, task_checksum="1")
    write_trial(tmp_path, name="b", task_id={"path": "two/task_a"}, task_checksum="2")
    with pytest.raises(InputError, match="two tasks that are called task_a"):
        load_jobs(tmp_path)


def test_the_same_trials_in_both_arms_are_refused(tmp_path: Path) -> None:
    write_trial(tmp_path, job="without")
    shutil.copytree(tmp_path / "without", tmp_path / "with")
    shown = harness(tmp_path, "compare", "without", "with")
    assert (shown.returncode, shown.stderr.count("\n")) == (2, 1)
    assert "1 run of with is in without as well" in shown.stderr


def test_runs_of_a_task_are_numbered_by_time(tmp_path: Path) -> None:
    write_trial(tmp_path, name="task_a__late", started="2026-11-21T12:00:00Z")
    write_trial(tmp_path, name="task_a__early", started="2026-11-21T11:00:00Z")
    results = load_jobs(tmp_path)
    assert [(r.run_index, Path(r.source).name) for r in results] == [
        (0, "task_a__early"),
        (1, "task_a__late"),
    ]


def test_agents_of_one_job_are_told_apart_by_their_servers(tmp_path: Path) -> None:
    search = {"name": "claude-code", "mcp_servers": [{"name": "search"}]}
    write_trial(tmp_path, name="a", agent=search)
    write_trial(tmp_path, name="b", agent={"name": "claude-code", "mcp_servers": []})
    names = {r.config_name for r in load_jobs(tmp_path)}
    assert names == {"with-search/claude-code", "with-search/claude-code+search"}


def test_models_alone_do_not_make_another_config(tmp_path: Path) -> None:
    for model in ("m1", "m2"):
        info = {"name": "claude-code", "version": "1", "model_info": {"name": model}}
        write_trial(tmp_path, name=model, agent={"name": "claude-code", "model_name": model}, agent_info=info)
    assert {(r.config_name, r.model) for r in load_jobs(tmp_path)} == {
        ("with-search", "m1"),
        ("with-search", "m2"),
    }


def test_tool_calls_and_turns_come_from_the_trajectory_and_the_answer_from_its_file(tmp_path: Path) -> None:
    folder = write_trial(tmp_path)
    call = {"tool_call_id": "1", "function_name": "Read", "arguments": {"file_path": "a"}}
    trajectory(
        folder,
        {"step_id": 1, "source": "user", "message": "the task"},
        {"step_id": 2, "source": "agent", "message": "reading", "tool_calls": [call]},
        {"step_id": 3, "source": "agent", "message": "done"},
    )
    (folder / "artifacts/app").mkdir(parents=True)
    (folder / "artifacts/app/solution.md").write_text("the answer")
    trace = load_jobs(tmp_path)[0].trace
    assert (trace.result, trace.num_turns, [call.name for call in trace.tool_calls]) == ("the answer", 2, ["Read"])


def trajectory(folder: Path, *steps: dict[str, Any]) -> None:
    (folder / "agent").mkdir()
    (folder / "agent/trajectory.json").write_text(json.dumps({"steps": steps}))


def test_a_turn_without_a_word_is_a_turn(tmp_path: Path) -> None:
    call = {"tool_call_id": "1", "function_name": "Read"}
    trajectory(write_trial(tmp_path), {"source": "agent", "tool_calls": [call]}, {"source": "agent", "message": "done"})
    trace = load_jobs(tmp_path)[0].trace
    assert (trace.num_turns, trace.tool_count) == (2, 1)


@pytest.mark.parametrize("steps", [None, [], [{"source": "user", "message": "the task"}]])
def test_without_a_step_of_the_agent_its_tools_and_turns_are_unknown(
    tmp_path: Path, steps: list[dict[str, Any]] | None
) -> None:
    folder = write_trial(tmp_path)
    if steps is not None:
        trajectory(folder, *steps)
    trace = load_jobs(tmp_path)[0].trace
    assert (trace.num_turns, trace.tool_count, trace.has_transcript) == (None, None, False)


def test_tokens_and_cost_of_nought_are_unknown(tmp_path: Path) -> None:
    write_trial(tmp_path, agent_result={"n_input_tokens": 0, "n_output_tokens": 0, "cost_usd": 0.0})
    result = load_jobs(tmp_path)[0]
    assert (result.tokens, result.cost_usd) == (None, None)


def test_the_graded_answer_is_bounded(tmp_path: Path) -> None:
    folder = write_trial(tmp_path)
    (folder / "artifacts/app").mkdir(parents=True)
    (folder / "artifacts/app/solution.md").write_text("It is 42.\n" + "x" * 300_000)
    trace = load_jobs(tmp_path)[0].trace
    assert trace.result.startswith("It is 42.")
    assert len(trace.result) == 262_144


METRICS = {
    "reward": 0.5,
    "components": {"keyword_overlap": 0.5},
    "scoring": "evidence",
    "scoring_version": "2.0",
}


def test_the_scoring_of_the_verifier_is_a_condition_of_the_run(tmp_path: Path) -> None:
    (write_trial(tmp_path) / "verifier/metrics.json").write_text(json.dumps(METRICS))
    (result,) = load_jobs(tmp_path)
    assert (result.conditions.scoring, result.conditions.scoring_version) == ("evidence", "2.0")


def test_metrics_of_another_benchmark_are_none_of_ours(tmp_path: Path) -> None:
    (write_trial(tmp_path) / "verifier/metrics.json").write_text('{"components": ["a", "b"]}')
    (result,) = load_jobs(tmp_path)
    assert (result.conditions.scoring, result.grades[0].criteria_scores) == (None, [])


def task_folder(folder: Path, servers: str = "", image: str = "debian:12", extra: str = "") -> Path:
    (folder / "environment").mkdir(parents=True)
    (folder / "environment/Dockerfile").write_text(f"# FROM none\nFROM --platform=linux/amd64 {image} AS base\n")
    (folder / "task.toml").write_text(
        "[metadata]\ncontext_length = 1234\n[agent]\ntimeout_sec = 60\n"
        f'[verifier]\nenvironment_mode = "shared"\n[environment]\ncpus = 2\nmemory_mb = 512\n{servers}'
    )
    (folder / "instruction.md").write_text(f"Do it.{extra}\n")
    return folder


SERVER = '[[environment.mcp_servers]]\nname = "search"\ntransport = "sse"\nurl = "http://s"\n'


def test_servers_come_from_the_task_and_from_the_job(tmp_path: Path) -> None:
    task = task_folder(tmp_path / "task_a", SERVER)
    agent = {"name": "claude-code", "mcp_servers": [{"name": "docs"}]}
    write_trial(tmp_path / "jobs", task_id={"path": str(task)}, agent=agent)
    assert load_jobs(tmp_path / "jobs")[0].trace.offered.servers == {"search": "", "docs": ""}


def test_servers_are_unknown_where_the_task_is_gone(tmp_path: Path) -> None:
    write_trial(tmp_path)
    assert load_jobs(tmp_path)[0].trace.offered.servers is None


def test_a_task_folder_that_was_made_anew_tells_nothing_of_the_trial(tmp_path: Path) -> None:
    task = task_folder(tmp_path / "task_a", SERVER)
    folder = write_trial(tmp_path / "jobs", task_id={"path": str(task)})
    (folder / "lock.json").write_text(json.dumps({"task": {"digest": f"sha256:{'0' * 64}"}}))
    (result,) = load_jobs(tmp_path / "jobs")
    assert (result.trace.offered.servers, result.conditions.base_image) == (None, None)
    assert result.fingerprints.task_content == ""


def test_without_a_lock_different_digests_are_different_tasks(tmp_path: Path) -> None:
    """The folder says what is there now, not what the two jobs ran."""
    task = task_folder(tmp_path / "task_a", SERVER)
    for job, digest in (("a", "aa"), ("b", "bb")):
        write_trial(
            tmp_path / "jobs", job=job, name=f"task_a__{job}", task_id={"path": str(task)}, task_checksum=digest
        )
    a, b = (load_jobs(tmp_path / "jobs" / job) for job in "ab")
    assert "The content of these tasks differs between the arms: task_a" in "\n".join(compare(a, b).warnings)


def test_conditions_come_from_the_task_and_the_job_overrides_them(tmp_path: Path) -> None:
    task = task_folder(tmp_path / "task_a")
    config = {
        "agent": {"name": "aider", "override_timeout_sec": 30, "kwargs": {"depth": 2}},
        "environment": {"override_memory_mb": 1024},
        "timeout_multiplier": 2.0,
    }
    write_trial(tmp_path / "jobs", task_id={"path": str(task)}, config=config, verifier_environment_mode="separate")
    found = load_jobs(tmp_path / "jobs")[0].conditions
    assert (found.base_image, found.verifier_mode) == ("debian:12", "separate")
    assert (found.agent_timeout_seconds, found.cpus, found.memory_mb) == (60, 2, 1024)
    assert (found.agent, found.agent_version) == ("claude-code", "2.1.330")


def test_the_content_of_a_task_does_not_depend_on_its_servers(tmp_path: Path) -> None:
    contents = {
        name: TaskFolder.read(task_folder(tmp_path / name, servers, image, extra)).content
        for name, servers, image, extra in (
            ("plain", "", "debian:12", ""),
            ("served", SERVER, "debian:12", ""),
            ("other_image", "", "debian:13", ""),
            ("other_words", "", "debian:12", " Now."),
        )
    }
    assert contents["plain"] == contents["served"]
    assert len(set(contents.values())) == 3


def test_a_job_tells_how_many_trials_it_was_to_have(tmp_path: Path) -> None:
    write_trial(tmp_path)
    job = {"n_total_trials": 8, "finished_at": None}
    (tmp_path / "with-search/result.json").write_text(json.dumps(job))
    batch = load_jobs(tmp_path)[0].batch
    assert batch is not None
    assert (batch.planned, batch.present, batch.finished) == (8, 1, False)
    assert batch.cut_short


@pytest.mark.parametrize(
    "message", ["Command failed (exit code 137): claude", "Command failed with exit code: 137", "main: OOMKilled"]
)
def test_a_killed_agent_says_nothing_about_the_agent(tmp_path: Path, message: str) -> None:
    exception = {"exception_type": "NonZeroAgentExitCodeError", "exception_message": message}
    write_trial(tmp_path, exception_info=exception, reward=0.0)
    result = load_jobs(tmp_path)[0]
    assert (result.outcome, result.trace.error_kind) == (Outcome.INFRA_ERROR, ErrorKind.KILLED)


@pytest.mark.parametrize(
    "message",
    [
        "Command failed (exit 1): claude -- 'restart a pod that was OOMKilled?'\nstdout: \nstderr: ",
        "Command failed (exit 1): claude -- 'who kills 137? exit code 137'\nstdout: Killed\nstderr: no",
        "main: onProcessKilled is not defined",
    ],
)
def test_a_question_about_killing_does_not_lose_its_run(tmp_path: Path, message: str) -> None:
    exception = {"exception_type": "NonZeroAgentExitCodeError", "exception_message": message}
    write_trial(tmp_path, exception_info=exception, reward=0.0)
    assert load_jobs(tmp_path)[0].trace.error_kind is ErrorKind.AGENT_STOPPED


@pytest.mark.parametrize(
    ("status", "lost"), [("failed", True), ("needs-auth", True), ("connected", False), ("pending", False)]
)
@pytest.mark.parametrize("called", [True, False])
def test_an_agent_without_its_server_was_not_set_up(tmp_path: Path, status: str, lost: bool, called: bool) -> None:
    agent = {"name": "claude-code", "mcp_servers": [{"name": "search", "transport": "sse", "url": "http://s"}]}
    folder = write_trial(tmp_path, reward=0.5, config={"agent": agent})
    call = {"tool_call_id": "1", "function_name": "mcp__search__find"}
    trajectory(folder, {"source": "agent", "tool_calls": [call] if called else []})
    lines: list[dict[str, Any]] = [
        {"type": "system", "subtype": "init", "mcp_servers": [{"name": "search", "status": status}]},
        {"type": "result", "subtype": "success", "result": "done"},
    ]
    (folder / "agent/claude-code.txt").write_text("\n".join(map(json.dumps, lines)))
    result = load_jobs(tmp_path)[0]
    assert (result.trace.error_kind is ErrorKind.NOT_LOADED) is (lost and not called), result.trace.error
    assert result.measured is not (lost and not called)


def test_a_container_that_was_gone_is_no_failure_of_the_agent(tmp_path: Path) -> None:
    """Harbor tells it in the trial's log alone, and the verifier gives 0 for the answer that is not there."""
    folder = write_trial(tmp_path, reward=0.0)
    (folder / "trial.log").write_text('Collect hook exited with code 1. stdout: service "main" is not running\n')
    result = load_jobs(tmp_path)[0]
    assert (result.measured, result.trace.error_kind) == (False, ErrorKind.KILLED)


def test_language_and_category_come_from_the_task(tmp_path: Path) -> None:
    write_trial(tmp_path / "jobs", task_id={"path": str(tmp_path / "tasks/task_a")})
    (tmp_path / "tasks/task_a").mkdir(parents=True)
    (tmp_path / "tasks/task_a/task.toml").write_text('[metadata]\nlanguage = "go"\ndifficulty = "hard"\n')
    result = load_jobs(tmp_path / "jobs")[0]
    assert (result.language, result.difficulty) == ("go", "hard")


def test_a_folder_of_jobs_is_read_whole(tmp_path: Path) -> None:
    write_trial(tmp_path, job="with")
    write_trial(tmp_path, job="without", name="task_a__x2")
    assert {r.config_name for r in load_jobs(tmp_path)} == {"with", "without"}


def test_a_folder_without_trials_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no Harbor trials there"):
        load_jobs(tmp_path)


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("result.json", "{", "Invalid JSON"),
        ("result.json", "[" * 100_000, "Invalid JSON"),
        ("result.json", '{"trial_name": "x", "task_name": "t", "agent_result": {"n_input_tokens": "abc"}}',
         r"agent_result\.n_input_tokens: Input should be a valid integer"),
        ("result.json", '{"trial_name": "x", "task_name": "t", "agent_result": {"n_output_tokens": 9007199254740993}}',
         r"agent_result\.n_output_tokens: Input should be less than or equal to"),
        ("result.json", '{"trial_name": "x", "task_name": "t", "verifier_result": {"rewards": {"reward": NaN}}}',
         r"verifier_result\.rewards\.reward: Input should be a finite number"),
        ("result.json", "", "Invalid JSON"),
        ("agent/trajectory.json", '{"steps": [{"tool_calls": [{"function_name": 1}]}]}',
         r"steps\.0\.tool_calls\.0\.function_name: Input should be a valid string"),
        ("agent/trajectory.json", '{"steps": [{"sour', "Invalid JSON"),
        ("verifier/metrics.json", "not json", "Invalid JSON"),
        ("lock.json", "{", "Invalid JSON"),
        ("../result.json", "{", "Invalid JSON"),
        ("../../../tasks/task_a/task.toml", "[", "not TOML"),
    ],
)  # fmt: skip
def test_a_file_that_is_cut_costs_what_it_says_and_is_named(tmp_path: Path, file: str, content: str, said: str) -> None:
    """A trial without its result is lost; a trajectory, metrics or a task that cannot be read are not known."""
    task = task_folder(tmp_path / "tasks/task_a")
    for name in ("task_a__x1", "task_a__x2"):
        folder = write_trial(tmp_path / "jobs", name=name, task_id={"path": str(task)})
        (folder / "agent").mkdir()
        (folder / "config.json").write_text(json.dumps({"trial_name": name, "task": {"path": str(task)}}))
        (folder / "lock.json").write_text("{}")
    (tmp_path / "jobs/with-search/task_a__x1" / file).resolve().write_text(content)
    with pytest.warns(UserWarning, match=rf"{file.rpartition('/')[2]}: .*{said}"):
        results = load_jobs(tmp_path / "jobs")
    assert [result.task_id for result in results] == ["task_a", "task_a"]
    assert sum(result.measured for result in results) == (1 if file == "result.json" else 2)


def test_servers_of_one_name_and_two_addresses_are_two_configs(tmp_path: Path) -> None:
    for name in ("a", "b"):
        servers = [{"name": "search", "url": f"http://{name}.example"}]
        write_trial(tmp_path, name=name, agent={"name": "claude-code", "mcp_servers": servers})
    assert len({r.config_name for r in load_jobs(tmp_path)}) == 2


def test_a_report_of_a_job_writes_a_results_file_and_shows_what_was_lost(tmp_path: Path) -> None:
    write_trial(tmp_path / "jobs", name="a")
    write_trial(tmp_path / "jobs", name="b", exception="ApiOverloadedError", reward=None)
    shown = harness(tmp_path, "report", "jobs/with-search", "--json", "out.json")
    assert shown.returncode == 0
    assert "1 infra_error" in shown.stdout
    assert {r.config_name for r in load_results(tmp_path / "out.json")} == {"with-search"}


def test_a_trial_of_a_task_folder_that_no_disk_can_have_is_read_without_it(tmp_path: Path) -> None:
    write_trial(tmp_path, task_id={"path": "x" * 5000})
    (result,) = load_jobs(tmp_path / "with-search")
    assert result.passed

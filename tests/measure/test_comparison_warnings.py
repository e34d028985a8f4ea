"""The sentences that `compare` adds unasked, each on results made to deserve it and on ones that do not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from harness.models import EvalResult, GradeResult, JudgeRecord
from measure.compare.comparison import compare
from measure.compare.sentences import verdict_sentence
from tests.support.results import arm, run

TASKS = [f"t{i:02}" for i in range(20)]


def same(count: int) -> dict[str, int]:
    return dict.fromkeys(TASKS, count)


def warnings(a: list[EvalResult], b: list[EvalResult], **options: Any) -> str:
    return "\n".join(compare(a, b, **options).warnings)


def offering(*tools: str, used: Sequence[str] = (), skills: Sequence[str] = ()) -> dict[str, Any]:
    offered = {"tools": ["Read", *tools], "skills": list(skills)}
    calls = [{"name": name, "input": {"skill": "style"}} for name in used]
    return {"trace": {"offered": offered, "tool_calls": calls}}


def test_a_sound_comparison_has_no_warnings() -> None:
    assert warnings(arm(same(3), 5), arm(same(3), 5)) == ""


def test_a_verdict_that_rests_on_one_task_names_it() -> None:
    comparison = compare(arm(same(8), 8), arm(same(8) | {"t07": 0}, 8))
    assert "Single tasks that changed by more than chance: t07 (regression)" in verdict_sentence(comparison)


def test_an_arm_full_of_zeros_is_pointed_out() -> None:
    assert "B: 100 of 100 runs scored 0 (A: 0 of 100)" in warnings(arm(same(5), 5), arm(same(0), 5))


def test_failures_are_no_doubt_of_an_arm_that_passes_at_times() -> None:
    """Of passes the zeros say what the answer says, and the warning would stand on every page that finds 20 points."""
    assert warnings(arm(same(4), 5), arm(same(1), 5)) == ""


def test_an_arm_full_of_errors_is_pointed_out() -> None:
    lost = [run(t, passed=False, outcome="infra_error", index=9) for t in TASKS]
    text = warnings(arm(same(3), 3), arm(same(3), 3) + lost)
    assert "B lost 20 of 80 runs (20 infra_error; " in text


def test_a_tool_that_no_run_used_is_pointed_out() -> None:
    a, b = arm(same(3), 3, **offering()), arm(same(3), 3, **offering("mcp__code__search"))
    assert "no run of B called the tool mcp__code__search" in warnings(a, b)


def test_a_tool_that_every_run_used_is_not() -> None:
    b = arm(same(3), 3, **offering("mcp__code__search", used=["mcp__code__search"]))
    assert "tool" not in warnings(arm(same(3), 3, **offering()), b)


def test_a_tool_that_few_runs_used_is_counted() -> None:
    b = arm(same(3), 3, **offering("mcp__x", used=["mcp__x"]))[:10]
    b += arm(same(3), 3, **offering("mcp__x"))[10:]
    assert "Only 10 of 60 runs of B used the tool mcp__x" in warnings(arm(same(3), 3, **offering()), b)


def test_a_skill_that_no_run_used_is_pointed_out() -> None:
    b = arm(same(3), 3, **offering(skills=["style"]))
    assert "the skill style" in warnings(arm(same(3), 3, **offering()), b)
    used = arm(same(3), 3, **offering(skills=["style"], used=["Skill"]))
    assert "the skill style" not in warnings(arm(same(3), 3, **offering()), used)


def test_the_treatment_can_be_named_by_pattern_where_no_init_line_was_recorded() -> None:
    b = arm(same(3), 3, tools=["Bash"])
    assert "tool mcp__*" in warnings(arm(same(3), 3), b, treatment=["mcp__*"])


def test_a_server_whose_tools_no_run_used_is_pointed_out() -> None:
    offered = {"servers": {"search": "connected"}}
    a, b = arm(same(3), 3), arm(same(3), 3, trace={"offered": offered})
    assert "tool mcp__search__*" in warnings(a, b)


def test_unequal_trials_are_pointed_out() -> None:
    b = [*arm(same(3), 3), run("t00", index=3)]
    assert "t00 (3 and 4)" in warnings(arm(same(3), 3), b)
    lost = run("t01", passed=False, index=3, outcome="infra_error")
    told = warnings([*arm(same(3), 3), lost.model_copy(update={"config_name": "a"})], [*b, lost])
    assert "the same number of runs: t00 (3 and 4); run" in told


def test_one_set_of_runs_under_two_names_is_pointed_out() -> None:
    def timed(first: int) -> list[EvalResult]:
        return [run(t, seconds=first + i + index / 7, index=index) for i, t in enumerate(TASKS) for index in range(3)]

    assert "this looks like one set of runs under two names" in warnings(timed(1), timed(1))
    assert "two names" not in warnings(timed(1), timed(2))


def test_a_different_cli_judge_or_task_is_pointed_out() -> None:
    def made(version: str, judge: str, task: str) -> list[EvalResult]:
        grade = GradeResult(assertion_type="llm", passed=True, score=1, judge=JudgeRecord(model=judge))
        return arm(same(3), 3, claude_code_version=version, grades=[grade], fingerprints={"task": task})

    text = warnings(made("2.1.1", "haiku", "aaaa"), made("2.1.2", "sonnet", "bbbb"))
    assert "agent version differs between the arms: 2.1.1 against 2.1.2" in text
    assert "judge model differs between the arms: haiku against sonnet" in text
    assert "content of these tasks differs between the arms: t00" in text


def test_low_scores_in_both_arms_are_no_reason_to_doubt() -> None:
    hard = {task: i % 2 for i, task in enumerate(TASKS)}
    assert warnings(arm(hard, 5), arm(hard, 5)) == ""


def test_fewer_runs_that_the_loss_explains_are_told_once() -> None:
    b = [*arm(same(3), 3)[:-1], run(TASKS[-1], passed=False, index=2, outcome="infra_error")]
    text = warnings(arm(same(3), 3), b)
    assert "B lost 1 of 60 runs" in text
    assert "the same number of runs" not in text


def test_passes_against_scores_are_two_scales() -> None:
    b = [run(task, score=0.3 + i / 50, passed=False) for i, task in enumerate(TASKS)]
    text = warnings(arm(same(1), 2), b)
    assert "on different scales: every run of A scored 0 or 1, and 100 % of B's in between" in text


def test_scores_that_happen_to_be_0_or_1_are_no_other_scale() -> None:
    b = arm(same(3), 3)
    b[0] = b[0].model_copy(update={"overall_score": 0.9})
    assert warnings(arm(same(3), 3), b) == ""


def failing(*errors: str | None) -> list[EvalResult]:
    calls = [{"name": "mcp__code__search", "error": error} for error in errors]
    trace = {**offering("mcp__code__search")["trace"], "tool_calls": calls}
    return arm(same(3), 3, trace=trace)


def test_a_server_whose_every_call_failed_is_pointed_out() -> None:
    a = arm(same(3), 3, **offering())
    text = warnings(a, failing("connection refused", "connection refused"))
    assert (
        "B: all 120 calls of the tool mcp__code__search failed, so the treatment never worked ('connection refused')"
        in text
    )
    assert "failed" not in warnings(a, failing("connection refused", None))


@pytest.mark.parametrize("name", ["code__search", "code.search", "mcp_code_search", "Code/search"])
def test_a_treatment_that_the_agent_names_otherwise_is_not_said_to_be_unused(name: str) -> None:
    b = arm(same(3), 3, **offering("mcp__code__search", used=[name]))
    text = warnings(arm(same(3), 3, **offering()), b)
    assert f"by that name, but runs called {name}; if that is the treatment, name it with --treatment" in text
    assert "never used" not in text


def repositories(*effects: float) -> tuple[list[EvalResult], list[EvalResult]]:
    tasks = [(f"t{n}{i:02}", f"repo{n}", 0.3 + i / 100, effect) for n, effect in enumerate(effects) for i in range(12)]
    a = [run(task, score=level, groups={"repository": repo}) for task, repo, level, _ in tasks]
    b = [
        run(task, score=level + effect + (-1) ** i / 50, groups={"repository": repo})
        for i, (task, repo, level, effect) in enumerate(tasks)
    ]
    return a, b


def test_a_few_repositories_with_unlike_effects_are_pointed_out() -> None:
    text = warnings(*repositories(0.3, 0.0, 0.0))
    assert "The effect differs between the repositories (p = 3.2e-06): repo0 +30.0 points, repo1 +0.0 points" in text
    assert "differs between the repositories" not in warnings(*repositories(0.1, 0.1, 0.1))


def conditions(**values: Any) -> dict[str, Any]:
    return {"conditions": values}


def test_whether_a_tool_was_used_is_not_recorded_without_a_transcript() -> None:
    b = arm(same(3), 3, trace={"offered": {"servers": {"search": ""}}, "has_transcript": False})
    text = warnings(arm(same(3), 3), b)
    assert "Whether B used the tool mcp__search__* is not recorded" in text
    assert "never used" not in text


def test_runs_with_a_transcript_speak_for_themselves_alone() -> None:
    seen = {"offered": {"servers": {"search": ""}}}
    b = arm(same(3), 3, trace=seen)[:30] + arm(same(3), 3, trace={**seen, "has_transcript": False})[30:]
    text = warnings(arm(same(3), 3), b)
    assert "none of the 30 runs with a trajectory of B called" in text
    assert "(not recorded for 30 of 60)" in text


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        ({"agent": "codex"}, {"agent": "aider"}, "The agent differs between the arms: codex against aider; "),
        ({"agent_version": "1"}, {"agent_version": "2"}, "The agent version differs between the arms: 1 against 2; "),
        ({"agent_settings": "x"}, {"agent_settings": "y"}, "The configuration of the agent differs"),
        ({"base_image": "debian:12"}, {"base_image": "ubuntu:24.04"}, "The base image differs between the arms: "),
        ({"scoring": "evidence"}, {"scoring": "published"}, "The scoring differs between the arms: "),
        ({"scoring_version": "1.0"}, {"scoring_version": "2.0"}, "The scoring version differs between the arms: "),
        ({"verifier_mode": "shared"}, {"verifier_mode": "separate"}, "The verifier mode differs between the arms: "),
        ({"agent_timeout_seconds": 60}, {"agent_timeout_seconds": 90}, "time limit (s) differs between the arms: 60"),
        ({"cpus": 1}, {"cpus": 2}, "The number of CPUs differs between the arms: 1 against 2; "),
        ({"memory_mb": 512}, {"memory_mb": 4096}, "The memory limit (MB) differs between the arms: 512 against 4096; "),
    ],
)
def test_a_condition_that_differs_is_named_alone(a: dict[str, Any], b: dict[str, Any], said: str) -> None:
    text = warnings(arm(same(3), 3, **conditions(**a)), arm(same(3), 3, **conditions(**b)))
    assert said in text
    assert "\n" not in text


def test_a_condition_that_one_arm_did_not_record_is_no_difference() -> None:
    assert warnings(arm(same(3), 3), arm(same(3), 3, **conditions(agent="codex", cpus=2))) == ""


def test_limits_that_differ_between_tasks_are_no_difference_between_arms() -> None:
    both = [r for i, t in enumerate(TASKS) for r in arm({t: 3}, 3, **conditions(memory_mb=512 + i))]
    assert warnings(both, both) == ""


def test_another_model_is_named() -> None:
    text = warnings(arm(same(3), 3, model="m1"), arm(same(3), 3, model="m2"))
    assert "The model differs between the arms: m1 against m2" in text


def test_servers_alone_make_no_other_task() -> None:
    prints = ({"task": "aa", "task_content": "same"}, {"task": "bb", "task_content": "same"})
    a, b = (arm(same(3), 3, fingerprints=found) for found in prints)
    assert warnings(a, b) == ""
    other = arm(same(3), 3, fingerprints={"task": "bb", "task_content": "other"})
    assert "content of these tasks differs" in warnings(a, other)


def test_jobs_that_were_cut_alike_do_not_compare_silently() -> None:
    cut = arm(same(3), 3, batch={"name": "j", "planned": 120, "present": 60, "finished": False})
    text = warnings(cut, cut)
    assert "A: the job j is incomplete: 60 of its 120 runs left a result" in text
    assert "B: the job j is incomplete" in text
    assert "harbor job resume" in text


def test_a_whole_job_is_not_mentioned() -> None:
    whole = arm(same(3), 3, batch={"name": "j", "planned": 60, "present": 60, "finished": True})
    assert warnings(whole, whole) == ""


@pytest.mark.parametrize(
    ("kind", "said"), [("killed", "the container was killed"), ("grading", "there is no reward"), ("auth", "login")]
)
def test_a_single_lost_run_is_named_with_its_cause(kind: str, said: str) -> None:
    trace = {"outcome": "infra_error", "error_kind": kind}
    b = [*arm(same(3), 3)[:-1], run(TASKS[-1], passed=False, index=2, outcome="infra_error", trace=trace)]
    text = warnings(arm(same(3), 3), b)
    assert "B lost 1 of 60 runs (" in text
    assert said in text
    assert "t19" in text


def test_a_treatment_that_runs_of_the_baseline_called_is_counted_in_both_arms() -> None:
    searched, plain = ["mcp__search__query"], ["Read"]
    a = [*arm(same(3), 3, tools=plain)[:40], *arm(same(3), 3, tools=searched)[40:]]
    b = arm(same(3), 3, tools=searched)
    text = warnings(a, b, treatment=["mcp__search__*"])
    assert "The baseline had the treatment: mcp__search__* was called in 20 of 60 runs of A and 60 of 60 of B" in text


def test_a_server_that_both_arms_called_though_nobody_listed_it_is_pointed_out() -> None:
    a = [*arm(same(3), 3)[:40], *arm(same(3), 3, tools=["mcp__search__query"])[40:]]
    text = warnings(a, arm(same(3), 3, tools=["mcp__search__other"]))
    assert "mcp__search__* was called in 20 of 60 runs of A and 60 of 60 of B; if that is what B is about" in text


@pytest.mark.parametrize(
    ("of_a", "of_b", "said"),
    [
        (("x", "1"), ("y", "1"), "The judge model differs between the arms: x against y"),
        (("x", "1"), ("x", "2"), "The version of the judge's prompt differs between the arms: 1 against 2"),
    ],
)
def test_another_judge_or_prompt_is_a_confound(of_a: tuple[str, str], of_b: tuple[str, str], said: str) -> None:
    def made(judge: tuple[str, str]) -> list[EvalResult]:
        told = JudgeRecord(model=judge[0], version=judge[1])
        grade = GradeResult(assertion_id="x", passed=True, score=1.0, judge=told)
        return arm(same(3), 3, grades=[grade])

    text = warnings(made(of_a), made(of_b))
    assert said in text
    assert "`grade --judge`" in text
    assert warnings(made(of_a), made(of_a)) == ""


def at(*, closed: bool, server: str = "") -> dict[str, Any]:
    """What a run of a task records whose code is in the container, or not."""
    servers = {server: ""} if server else {}
    prints = {"task": f"{closed}{server}", "task_content": f"{closed}", "task_generated": "same"}
    return {"conditions": {"closed_book": closed}, "fingerprints": prints, "trace": {"offered": {"servers": servers}}}


def test_a_server_instead_of_the_code_is_the_treatment_and_nothing_instead_of_it_is_a_doubt() -> None:
    clone = arm(same(3), 3, **at(closed=False))
    assert "code" not in warnings(clone, arm(same(3), 3, **at(closed=True, server="far"))).replace("mcp__", "")
    text = warnings(clone, arm(same(3), 3, **at(closed=True)))
    assert "B had neither the code nor a server in 60 of 60 runs, and A had the code" in text


FETCHES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("WebFetch", {"url": "https://example.com"}),
    ("google_web_search", {}),
    ("Bash", {"command": "cd /tmp && git clone --depth 1 https://example.com/pallets/click"}),
    ("shell", {"command": ["bash", "-lc", "git clone git@example.com:a/b.git"]}),
    ("Bash", {"command": "pip download click==8.1"}),
    ("Bash", {"command": "curl -s https://example.com/a.py"}),
)
NO_FETCHES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Bash", {"command": "grep -rn 'https://example.com' src; git log"}),
    ("Bash", {"command": "curl http://host.docker.internal:8765/mcp; curl http://127.0.0.1"}),
    ("Write", {"content": "Run `curl https://example.com/install.sh`."}),
    ("Bash", {"command": "pip install -e . && git diff"}),
    ("mcp__web__search", {"query": "curl"}),
)


@pytest.mark.parametrize(("call", "is_fetch"), [*((c, True) for c in FETCHES), *((c, False) for c in NO_FETCHES)])
def test_what_an_agent_got_from_outside_is_named(call: tuple[str, dict[str, Any]], is_fetch: bool) -> None:
    name, given = call
    b = arm(same(3), 3)
    b[0] = run("t00", passed=True, trace={"tool_calls": [{"name": name, "input": given}]})
    assert ("B: 1 of 60 runs got something from outside of the task (" in warnings(arm(same(3), 3), b)) is is_fetch

"""The sentences that `compare` adds unasked, each on results made to deserve it and on ones that do not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.compare.comparison import compare
from harness.models import EvalResult, GradeResult, JudgeRecord
from tests.support.results import arm, run

TASKS = [f"t{i:02}" for i in range(20)]


def same(count: int) -> dict[str, int]:
    return dict.fromkeys(TASKS, count)


def warnings(a: list[EvalResult], b: list[EvalResult], **options: Any) -> str:
    return "\n".join(compare(a, b, **options).warnings)


def offering(*tools: str, used: Sequence[str] = (), skills: Sequence[str] = ()) -> dict[str, Any]:
    init = {"tools": ["Read", *tools], "skills": list(skills)}
    calls = [{"name": name, "input": {"skill": "style"}} for name in used]
    return {"trace": {"raw_output": {"init": init}, "tool_calls": calls}}


def test_a_sound_comparison_has_no_warnings() -> None:
    assert warnings(arm(same(3), 5), arm(same(3), 5)) == ""


def test_a_verdict_that_rests_on_one_language_says_so() -> None:
    def made(python: int) -> list[EvalResult]:
        tasks = arm(dict.fromkeys(TASKS[:8], python), 5, language="python")
        return tasks + arm(dict.fromkeys(TASKS[8:], 4), 5, language="rust")

    assert "depends on language 'python'" in warnings(made(5), made(2))


def test_a_verdict_that_rests_on_one_task_names_it() -> None:
    broken = same(8) | {"t07": 0}
    assert "it would change without t07" in warnings(arm(same(8), 8), arm(broken, 8))


def test_a_verdict_that_holds_without_any_group_says_nothing_about_groups() -> None:
    def made(count: int) -> list[EvalResult]:
        return [
            r for i, t in enumerate(TASKS) for r in arm({t: count}, 5, category="coding" if i % 2 else "exploration")
        ]

    assert "depends" not in warnings(made(5), made(1))


def test_an_arm_full_of_zeros_is_pointed_out() -> None:
    assert "B: 100 of 100 measured runs scored 0" in warnings(arm(same(5), 5), arm(same(0), 5))


def test_an_arm_full_of_errors_is_pointed_out() -> None:
    lost = [run(t, passed=False, outcome="infra_error", index=9) for t in TASKS]
    text = warnings(arm(same(3), 3), arm(same(3), 3) + lost)
    assert "B: 20 of 80 runs say nothing about the agent (20 infra_error)" in text


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
    servers = {"init": {"mcp_servers": [{"name": "search", "status": "connected"}]}}
    a, b = arm(same(3), 3), arm(same(3), 3, trace={"raw_output": servers})
    assert "tool mcp__search__*" in warnings(a, b)


def test_unequal_trials_are_pointed_out() -> None:
    b = [*arm(same(3), 3), run("t00", index=3)]
    assert "t00 (3 and 4)" in warnings(arm(same(3), 3), b)


def test_a_different_cli_judge_or_task_is_pointed_out() -> None:
    def made(version: str, judge: str, task: str) -> list[EvalResult]:
        grade = GradeResult(assertion_type="llm", passed=True, score=1, judge=JudgeRecord(model=judge))
        return arm(same(3), 3, claude_code_version=version, grades=[grade], fingerprints={"task": task})

    text = warnings(made("2.1.1", "haiku", "aaaa"), made("2.1.2", "sonnet", "bbbb"))
    assert "Claude Code version differs between the arms: 2.1.1 against 2.1.2" in text
    assert "judge model differs between the arms: haiku against sonnet" in text
    assert "content of these tasks differs between the arms: t00" in text


def test_a_task_that_goes_against_the_whole_is_named() -> None:
    a = same(2) | {"t00": 10}
    b = same(8) | {"t00": 0}
    assert "t00 goes against the overall verdict. On its own: regression" in warnings(arm(a, 10), arm(b, 10))


def test_a_score_that_moved_without_the_pass_rate_is_mentioned() -> None:
    a = [run(t, passed=False, score=0.6) for t in TASKS]
    b = [run(t, passed=False, score=0.4 + i / 100) for i, t in enumerate(TASKS)]
    assert "The score changed by" in warnings(a, b)

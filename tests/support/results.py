"""Made results for the tests of reports and statistics: one run, or whole arms with given pass counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from harness.models import EvalResult, ExecutionTrace, GradeResult, ResultsFile, TokenUsage, ToolCall

WHEN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def run(
    task: str = "t1",
    config: str = "base",
    *,
    passed: bool = True,
    score: float | None = None,
    index: int = 0,
    model: str = "m",
    tools: Sequence[str] = (),
    tokens: int = 100,
    cost: float | None = 0.01,
    seconds: float = 10.0,
    trace: Mapping[str, Any] | None = None,
    **fields: Any,
) -> EvalResult:
    """One run; `score` follows `passed` unless given, `trace` and other fields overwrite what is made up."""
    value = float(passed) if score is None else score
    return EvalResult(
        task_id=task,
        config_name=config,
        model=model,
        run_index=index,
        timestamp=WHEN,
        trace=ExecutionTrace(
            **{
                "usage": TokenUsage(input_tokens=tokens),
                "duration_seconds": seconds,
                "cost_usd": cost,
                "tool_calls": [ToolCall(name=name) for name in tools],
                "claude_prompt": f"prompt of {task}",
                **(trace or {}),
            }
        ),
        **{
            "grades": [
                GradeResult(
                    assertion_id="code_0_tests_pass",
                    assertion_type="code",
                    assertion_name="tests_pass",
                    passed=passed,
                    score=value,
                )
            ],
            "overall_score": value,
            "passed": passed,
            **fields,
        },
    )


def arm(passes: Mapping[str, int], runs: int, **fields: Any) -> list[EvalResult]:
    """All runs of an arm in which each task passed the given number of its `runs`."""
    return [
        run(task, passed=index < count, index=index, **fields)
        for task, count in passes.items()
        for index in range(runs)
    ]


def judge_failed(task: str = "t1", config: str = "base", **fields: Any) -> EvalResult:
    """A run whose judge gave no usable verdict."""
    grade = GradeResult(assertion_id="llm_0", assertion_type="llm", passed=False, score=0.0, status="judge_error")
    return run(task, config, passed=False, grades=[grade], **fields)


def results_json(results: Sequence[EvalResult]) -> str:
    """The text of a results file, with nothing taken out."""
    return ResultsFile(timestamp=WHEN, num_results=len(results), results=list(results)).model_dump_json(indent=1)

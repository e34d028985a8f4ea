"""Two result sets as a matrix would leave them, with transcripts, for tests of reports and their speed."""

from __future__ import annotations

import random

from harness.models import EvalResult, FileChange, GradeResult, JudgeRecord, Outcome, ToolCall
from tests.support.results import run

LANGUAGES = ("python", "rust", "go", "typescript", "java")
CATEGORIES = ("coding", "refactoring", "exploration")


def made(
    tasks: int,
    runs: int,
    *,
    config: str,
    chance: float,
    seed: int,
    text_chars: int = 2000,
    lost: float = 0.02,
) -> list[EvalResult]:
    """An arm of `tasks` x `runs`; each task passes with a chance around `chance`."""
    rng = random.Random(seed)
    pool = " ".join(f"word{rng.randrange(3000)}" for _ in range(30_000))

    def text(chars: int) -> str:
        start = rng.randrange(len(pool) - chars)
        return pool[start : start + chars]

    results = []
    for number in range(tasks):
        shift = random.Random(number).uniform(-0.25, 0.15)
        for index in range(runs):
            passed = rng.random() < min(0.98, max(0.02, chance + shift))
            outcome = Outcome.INFRA_ERROR if rng.random() < lost else Outcome.COMPLETED
            calls = [
                ToolCall(
                    name=rng.choice(["Read", "Bash", "Grep", "Edit"]),
                    input={"q": text(60)},
                    output=text(text_chars),
                )
                for _ in range(rng.randint(3, 9))
            ]
            diff = "--- a/app.py\n+++ b/app.py\n@@ -1,3 +1,3 @@\n context\n-old <b>line</b>\n+new & line\n"
            grades = [
                GradeResult(
                    assertion_id="code_0_tests_pass",
                    assertion_type="code",
                    assertion_name="tests_pass",
                    passed=passed,
                    score=float(passed),
                    weight=70,
                    details="7 passed" if passed else "2 failed, 5 passed",
                    full_output=text(400),
                ),
                GradeResult(
                    assertion_id="llm_0",
                    assertion_type="llm",
                    assertion_name="llm_quality",
                    passed=True,
                    score=0.8,
                    weight=30,
                    reasoning="Small and readable.",
                    judge=JudgeRecord(model="judge", samples=[0.8], cost_usd=0.001),
                ),
            ]
            results.append(
                run(
                    f"task-{number:03}",
                    config,
                    passed=passed and outcome.measured,
                    score=(0.7 * passed + 0.24) if outcome.measured else 0.0,
                    index=index,
                    model="claude-sonnet-5-5",
                    cost=round(rng.uniform(0.02, 0.2), 4),
                    seconds=rng.uniform(20, 200),
                    tokens=rng.randint(10_000, 90_000),
                    outcome=outcome,
                    category=CATEGORIES[number % 3],
                    language=LANGUAGES[number % 5],
                    grades=grades if outcome.measured else [],
                    trace={
                        "outcome": outcome,
                        "error": "" if outcome.measured else "HTTP 529 overloaded",
                        "tool_calls": calls,
                        "result": text(500),
                        "stderr": "" if passed else "warning: something",
                        "file_changes": [FileChange(path="app.py", action="modified", diff=diff)],
                    },
                )
            )
    return results

"""What would another formula give? Scores a Harbor trial's answer again with its task's own verifier."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

from harness.errors import InputError
from harness.host import scratch
from harness.host.variables import tool_environment
from harness.models import PASS_SCORE, CriterionScore, EvalResult, GradeResult
from harness.results.judged_task import JudgedTask, answer_of, task_of
from harness.run.regrade import with_score
from locobench.shared.validation import what_is_wrong

Scoring = Literal["evidence", "published"]
TIME_LIMIT_SECONDS = 60.0


def rescore(result: EvalResult, scoring: Scoring, tasks_dir: Path | None) -> EvalResult:
    """Return the trial with the formula's reward as its score; unchanged if the agent did not finish.

    Raises:
        InputError: the task or answer cannot be read, the task has no key for this formula, or its verifier fails.
    """
    if not result.has_answer:
        return result
    task = task_of(result, tasks_dir)
    metrics = _run_verifier(task, answer_of(result), scoring)
    score = min(1.0, max(0.0, float(metrics["reward"])))
    components = metrics.get("components")
    grade = GradeResult(
        assertion_id=scoring,
        assertion_type="code",
        assertion_name="verifier",
        passed=score >= PASS_SCORE,
        score=score,
        details=f"reward {score:g}",
        full_output=json.dumps(metrics, indent=1),
        criteria_scores=[
            CriterionScore(criterion=name, score=value)
            for name, value in (components if isinstance(components, dict) else {}).items()
            if isinstance(value, int | float) and 0 <= value <= 1
        ],
        weight=1.0,
    )
    return with_score(result, grade)


def _run_verifier(task: JudgedTask, answer: str, scoring: Scoring) -> dict[str, Any]:
    tests = task.path / "tests"
    key = _key(tests, scoring)
    with scratch.folder("rescore_") as root:
        for place in ("app", "tests", "logs/verifier"):
            (root / place).mkdir(parents=True)
        (root / "app/solution.md").write_text(answer, encoding="utf-8")
        (root / "tests/ground_truth.json").write_text(json.dumps(key), encoding="utf-8")
        for name in ("verify.py", "locobench/reading.py"):
            (root / "tests" / name).parent.mkdir(exist_ok=True)
            if (tests / name).is_file():
                shutil.copyfile(tests / name, root / "tests" / name)
        # As in test.sh: isolated mode, without site packages, and without credentials in the environment.
        command = [sys.executable, "-I", "-S", "-B", str(root / "tests/verify.py"), str(root)]
        try:
            done = subprocess.run(
                command,
                cwd=root,
                env=tool_environment(),
                capture_output=True,
                text=True,
                errors="replace",
                timeout=TIME_LIMIT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise InputError(f"{tests}/verify.py: took more than {TIME_LIMIT_SECONDS:g} s") from error
        try:
            metrics = json.loads((root / "logs/verifier/metrics.json").read_bytes())
            return {**metrics, "reward": float(metrics["reward"])}
        except (OSError, ValueError, KeyError, TypeError) as error:
            said = (done.stderr or done.stdout).strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
            raise InputError(f"{tests}/verify.py: gave no metrics ({said[0][:200]})") from error


def _key(tests: Path, scoring: Scoring) -> dict[str, Any]:
    """Return the task's key for this formula, in the format of ground_truth.json."""
    try:
        whole = json.loads((tests / "ground_truth.json").read_bytes())
        truth, key = whole["ground_truth"], whole["key"]
        has = "published" if key["scoring"] == "published" else "evidence"
        if scoring == "published" and has == "evidence":
            metadata = json.loads((tests / "task_metadata.json").read_bytes())
            key = {
                "scoring": scoring,
                "truth": truth if isinstance(truth, str) else json.dumps(truth),
                "files": sorted(metadata["context_files"]),
            }
            has = scoring
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{tests}: not the tests of a generated task ({what_is_wrong(error)}); correct --tasks"
        ) from error
    if has != scoring:
        raise InputError(
            f"{tests}: has no key for the scoring {scoring}; generate the tasks with it and name them with --tasks"
        )
    return {"key": key}

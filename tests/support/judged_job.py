"""A small Harbor job with generated-looking tasks, for tests of what judges are asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from locobench.generate.make import grader_files
from tests.measure.test_harbor import write_trial
from tests.support.stand_in.messages_api import Text

CODE = (
    "def charge(account, amount):\n    if account.closed:\n        raise ClosedAccount\n    account.balance -= amount\n"
)
ANSWER = "`charge` in `pay.py` raises `ClosedAccount` before the balance changes. This is answer {number}."
TRUTH = "charge refuses closed accounts."


def reply(overall: int = 80, **changed: Any) -> Text:
    """A judge's reply about an answer."""
    check = {"claim": "charge raises", "verdict": "true", "evidence": "pay.py:3 raise ClosedAccount"}
    grade = {"checks": [check], "code_truth": 90, "task_points": 70, "overall": overall, "reason": "It does."}
    return Text(json.dumps({**grade, **changed}))


def make_task(root: Path, name: str) -> Path:
    """A task folder with project, question, reference and the real verifier with a key for the published formula."""
    task = root / "tasks" / name
    (task / "environment/project").mkdir(parents=True)
    (task / "tests").mkdir()
    (task / "environment/project/pay.py").write_text(CODE)
    (task / "task.toml").write_text('[metadata]\nlanguage = "python"\n')
    (task / "instruction.md").write_text(f"What does charge do? ({name})\n")
    key = {"scoring": "published", "truth": TRUTH, "files": ["pay.py"]}
    (task / "tests/ground_truth.json").write_text(json.dumps({"ground_truth": TRUTH, "key": key}))
    metadata = {"id": name, "evaluation_criteria": ["names the exception"], "context_files": ["pay.py"]}
    (task / "tests/task_metadata.json").write_text(json.dumps(metadata))
    for path, program in grader_files(None, "published").items():
        (task / path).parent.mkdir(exist_ok=True)
        (task / path).write_bytes(program)
    return task


def make_job(root: Path, *, trials: int = 1, tasks: int = 1, answer: str = ANSWER, **trial: Any) -> Path:
    """jobs/with-search with so many trials, spread over so many tasks, each with an answer of its own."""
    folders = [make_task(root, f"task_{number:02}") for number in range(tasks)]
    for number in range(trials):
        task = folders[number % tasks]
        folder = write_trial(
            root / "jobs",
            name=f"{task.name}__x{number:02}",
            **{"task": task.name, "task_id": {"path": str(task)}, "reward": 0.25, **trial},
        )
        (folder / "verifier/metrics.json").write_text('{"reward": 0.25, "components": {"code_blocks": 0.5}}')
        (folder / "artifacts/app").mkdir(parents=True)
        (folder / "artifacts/app/solution.md").write_text(answer.format(number=number))
    return root / "jobs/with-search"

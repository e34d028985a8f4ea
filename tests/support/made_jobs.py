"""Harbor job folders as Harbor leaves them, with task folders, trajectories and answers, for tests of reading speed."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

LANGUAGES = ("python", "rust", "go", "java")


def made_job(folder: Path, name: str, *, tasks: int, runs: int, seed: int, reward: float = 0.5) -> Path:
    """A whole job `name` in folder/jobs of tasks in folder/tasks, which are made when they are not there."""
    rng = random.Random(seed)
    words = [f"word{number}" for number in range(2000)]
    job = folder / "jobs" / name
    for number in range(tasks):
        task = folder / "tasks" / f"task_{number:03}"
        if not task.exists():
            _made_task(task, number)
        for run in range(runs):
            trial = job / f"task_{number:03}__{run}"
            for part in ("agent", "verifier", "artifacts/app"):
                (trial / part).mkdir(parents=True)
            score = min(1.0, max(0.0, rng.gauss(reward, 0.2)))
            answer = " ".join(rng.choices(words, k=700))
            (trial / "result.json").write_text(json.dumps(_trial(trial, task, score, number * runs + run)))
            (trial / "agent/trajectory.json").write_text(json.dumps({"steps": _steps(rng, words)}))
            (trial / "artifacts/app/solution.md").write_text(answer)
            (trial / "verifier/metrics.json").write_text(json.dumps(_metrics(rng, words, score)))
            (trial / "verifier/test-stdout.txt").write_text("done\n")
    stats = {"n_completed_trials": tasks * runs, "n_retries": 0}
    told = {"n_total_trials": tasks * runs, "finished_at": "2026-01-01T12:00:00", "stats": stats}
    (job / "result.json").write_text(json.dumps(told))
    return job


def _made_task(task: Path, number: int) -> None:
    for part in ("environment/project", "tests"):
        (task / part).mkdir(parents=True)
    (task / "task.toml").write_text(
        f'[metadata]\ncategory = "c{number % 8}"\nlanguage = "{LANGUAGES[number % 4]}"\n'
        f"context_length = {number * 1000}\n"
        "[agent]\ntimeout_sec = 1800.0\n[environment]\ncpus = 2\nmemory_mb = 4096\n"
    )
    (task / "instruction.md").write_text("Explain it.\n")
    (task / "environment/Dockerfile").write_text("FROM ubuntu:24.04\n")
    for file in range(20):
        (task / f"environment/project/file_{file}.py").write_text(f"x = {number}\n" * 1000)


def _trial(trial: Path, task: Path, score: float, number: int) -> dict[str, Any]:
    at = f"2026-01-01T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}Z"
    agent = {"name": "claude-code", "model_name": "m", "kwargs": {}, "mcp_servers": []}
    return {
        "trial_name": trial.name,
        "task_name": f"bench/{task.name}",
        "task_id": {"path": str(task)},
        "task_checksum": task.name,
        "config": {"agent": agent, "environment": {"type": "docker"}, "timeout_multiplier": 1.0},
        "agent_info": {"name": "claude-code", "version": "2", "model_info": {"name": "m"}},
        "agent_result": {"n_input_tokens": 9000, "n_cache_tokens": 5000, "n_output_tokens": 700, "cost_usd": 0.1},
        "verifier_result": {"rewards": {"reward": score}},
        "started_at": at,
        "finished_at": at,
        "agent_execution": {"started_at": at, "finished_at": at},
    }


def _steps(rng: random.Random, words: list[str]) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = [{"step_id": 1, "source": "user", "message": "Explain it."}]
    for number in range(20):
        call = {"tool_call_id": str(number), "function_name": "Read", "arguments": {"path": rng.choice(words)}}
        seen = [{"source_call_id": str(number), "content": " ".join(rng.choices(words, k=300))}]
        steps.append(
            {
                "step_id": number + 2,
                "source": "agent",
                "message": " ".join(rng.choices(words, k=20)),
                "tool_calls": [call],
                "observation": {"results": seen},
            }
        )
    return steps


def _metrics(rng: random.Random, words: list[str], score: float) -> dict[str, Any]:
    return {
        "reward": score,
        "components": {"keyword_overlap": score, "file_references": score, "code_blocks": score},
        "scoring": "evidence",
        "scoring_version": "3.0",
        "identifiers": dict.fromkeys(rng.choices(words, k=40), 1.0),
        "files": dict.fromkeys(rng.choices(words, k=10), 1.0),
        "invented_identifiers": rng.choices(words, k=5),
    }

"""What would one grep earn? Hands in grep's own answer on every task with an exact one, and prints the rewards.

`python -m tools.grep_answers TASKS`: TASKS is a folder that run_adapter.py wrote.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from statistics import fmean


def reward(task: Path, answer: str) -> float:
    """Let the task's own tests score an answer, in a temporary root."""
    with tempfile.TemporaryDirectory(prefix="grep-") as name:
        root = Path(name)
        shutil.copytree(task / "tests", root / "tests")
        (root / "app").mkdir()
        (root / "app" / "solution.md").write_text(answer, encoding="utf-8")
        subprocess.run(["bash", root / "tests" / "test.sh", root], check=True, capture_output=True)
        return float(json.loads((root / "logs" / "verifier" / "reward.json").read_bytes())["reward"])


def main(arguments: list[str]) -> int:
    """Print a line a task; 1 where a reward is not the one that the task's key has."""
    wrong = 0
    earned: dict[bool, list[float]] = {True: [], False: []}
    print("What the answer of a single grep earns:")
    print("reward  question            task")
    for config in sorted(Path(arguments[0]).glob("*/task.toml")):
        derived = tomllib.loads(config.read_text(encoding="utf-8"))["metadata"].get("derived")
        if derived is None:
            continue
        key = json.loads((config.parent / "tests" / "ground_truth.json").read_bytes())["key"]
        found = reward(config.parent, "```answer\n" + "\n".join(key["grep"]) + "\n```\n")
        wrong += found != key["grep_reward"]
        earned[derived["control_group"]].append(found)
        print(f"{found:6.2f}  {derived['kind']:<18}  {config.parent.name}")
    for control, rewards in earned.items():
        if rewards:
            what = "of the control group" if control else "questions"
            print(f"grep earns {fmean(rewards):.2f} on average on {len(rewards)} {what}")
    return 1 if wrong or not any(earned.values()) else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

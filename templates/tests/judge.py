"""Let a language model grade an answer and write the reward: `judge.py [ROOT]`.

Reads ROOT/app/solution.md as verify.py does, ROOT/tests/judge.json (instruction, criteria, reference) and the code,
which is ROOT/tests/project, else ROOT/app/project of this untouched container. Asks once, at JUDGE_BASE_URL. Writes
ROOT/logs/verifier/reward.json, the judge's overall grade divided by 100, and metrics.json with all of the grade and,
for comparison, what verify.py gives. Without a grade there is no reward.json, and metrics.json says why.

Standard library only, Python 3.9 and newer. docs/JUDGE.md says what the judge sees and how it fails.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from collections.abc import Iterator
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import verify

from locobench import reading
from locobench.scoring.judge import asking, judging, prices
from locobench.scoring.judge.code_base import Code
from locobench.scoring.judge.evidence import evidence

# Seconds for looking the answer up in the code, and for all attempts at asking; task.toml allows for both.
LOOK_UP_SECONDS = 60
ASK_SECONDS = 480


@contextlib.contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Raise TimeoutError in the block when it takes longer."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"took more than {seconds} s")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def deterministic(root: str, answer: str) -> dict[str, Any]:
    """Return what verify.py measures of the answer, or why it cannot."""
    try:
        with open(f"{root}/tests/ground_truth.json", encoding="utf-8") as stream:
            key = json.load(stream)["key"]
        with time_limit(reading.TIME_LIMIT_SECONDS):
            found: dict[str, Any] = verify.score(answer, key)
            return found
    except TimeoutError as error:
        return {"reward": 0.0, "problem": str(error)}


def look_up(root: str, answer: str) -> str:
    """Return the evidence pack of the answer."""
    project = f"{root}/tests/project"
    code = Code.read(project if os.path.isdir(project) else f"{root}/app/project")
    if not code.lines:
        raise judging.JudgeError("no code base to look the answer up in")
    with time_limit(LOOK_UP_SECONDS):
        return evidence(answer, code)


def ask(root: str, answer: str, pack: str, key: str) -> tuple[dict[str, Any], dict[str, Any], dict[str, str]]:
    """Return (grade, usage, what was asked)."""
    asked = {name: os.environ.get(f"JUDGE_{name.upper()}", "") for name in ("api", "model")}
    if asked["api"] not in asking.BASE_URLS:
        raise judging.JudgeError(f"JUDGE_API: {asked['api']!r:.40} is none of {', '.join(asking.BASE_URLS)}")
    if not asked["model"]:
        raise judging.JudgeError("JUDGE_MODEL: not set")
    with open(f"{root}/tests/judge.json", encoding="utf-8") as stream:
        about = json.load(stream)
    system, user = judging.prompt(about["instruction"], about["criteria"], about["reference"], answer, pack)
    with time_limit(ASK_SECONDS + 30):
        grade, usage = asking.ask(
            system,
            user,
            api=asked["api"],
            base_url=os.environ.get("JUDGE_BASE_URL") or asking.BASE_URLS[asked["api"]],
            key=key,
            model=asked["model"],
            time_limit=ASK_SECONDS,
        )
    return grade, usage, asked


def graded(root: str, answer: str, key: str) -> dict[str, Any]:
    """Return the metrics of an answer.

    Raises:
        JudgeError: there is no grade.
    """
    try:
        pack = look_up(root, judging.cut(answer, judging.MOST_ANSWER))
    except TimeoutError as error:
        # As with verify.py: an answer that cannot be read in time is worth nothing.
        return {"reward": 0.0, "problem": f"looking the answer up {error}"}
    grade, usage, asked = ask(root, answer, pack, key)
    # One prompt is short of where a second price begins, however many attempts were paid.
    price = prices.price_of(asked["model"])
    return {
        "reward": grade["overall"] / 100,
        "components": {name: grade[name] / 100 for name in judging.SCORES if name != "overall"},
        "judge": {
            "version": judging.VERSION,
            **asked,
            **grade,
            "usage": usage,
            "cost_usd": price and round(price.of(usage["input_tokens"], usage["output_tokens"]), 6),
        },
    }


def without(key: str, value: Any) -> Any:
    """Return a JSON value without the key, which no service's reply and no library's message may put into a log."""
    if isinstance(value, dict):
        return {name: without(key, item) for name, item in value.items()}
    if isinstance(value, list):
        return [without(key, item) for item in value]
    return value.replace(key, "[key]") if key and isinstance(value, str) else value


def main(root: str) -> None:
    """Grade ROOT/app/solution.md and write what is known of it."""
    key = os.environ.pop("JUDGE_API_KEY", "").strip()
    result: dict[str, Any] = {"scoring": "judge"}
    try:
        answer, problem = reading.read_answer(f"{root}/app/solution.md")
        result["deterministic"] = deterministic(root, answer)
        if answer.strip():
            result.update(graded(root, answer, key))
        else:
            result.update({"reward": 0.0, "problem": problem or "no answer: the file is empty"})
    except judging.JudgeError as error:
        result.update({"problem_kind": "judge", "problem": str(error)})
    except Exception as error:
        # Whatever it is: a trial that was not graded must not pass for one that earned nothing.
        result.update({"problem_kind": "judge", "problem": f"{type(error).__name__}: {error}"[:300]})
    result = without(key, result)
    reading.write_json(f"{root}/logs/verifier/metrics.json", result)
    if "reward" in result:
        reading.write_json(f"{root}/logs/verifier/reward.json", {"reward": result["reward"]})
    print(f"reward {result.get('reward', 'none')} {result.get('components', '')} {result.get('problem', '')}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")

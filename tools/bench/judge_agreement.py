"""The judge's agreement with expert readers: its replies, kept verbatim, against the same blind grades.

The project's own machines reach no model: language models that were handed the prompts replied (tests/fixtures/judging
says how). Beside the judge stands what verify.py gives the same answers. `python -m tools.bench.judge_agreement` writes
the table in docs/JUDGE.md; `… --ask FOLDER` writes the prompts of today as `prompts/NNN.txt`, in an order that tells
nothing, with `map.json`; `… --record FOLDER` takes in `replies/NNN.json`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from scipy.stats import spearmanr

from adapter import LoCoBenchAdapter, LoCoBenchLoader
from locobench.dataset.extract import extract
from locobench.scoring import verify
from locobench.scoring.judge import judging
from locobench.scoring.judge.code_base import Code
from locobench.scoring.judge.evidence import evidence
from locobench.shared.files import write_whole
from locobench.shared.installation import REPOSITORY
from locobench.shared.markdown import as_markdown
from tools.bench.agreement import CLEAR, FIXTURES, KINDS, Graded, beats, mean

REPLIES = REPOSITORY / "tests" / "fixtures" / "judging" / "replies"
DOCUMENT = REPOSITORY / "docs" / "JUDGE.md"
MARK = re.compile(r"(<!-- judge agreement -->\n).*?(<!-- end judge agreement -->)", re.DOTALL)


def judged_tasks() -> list[str]:
    """Return the ids of the tasks whose answers were judged."""
    return sorted(path.name for path in REPLIES.iterdir() if path.is_dir())


def tasks_of_the_sample(task_ids: Sequence[str], folder: Path) -> Path:
    """Generate tasks of the bundled sample below `folder`; return the folder that holds them."""
    sample = REPOSITORY / "data" / "sample"
    extract(sample, folder / "dataset.jsonl")
    (folder / "tasks").mkdir()
    adapter = LoCoBenchAdapter(LoCoBenchLoader(folder / "dataset.jsonl"), folder / "tasks", sample)
    for outcome in adapter.generate(task_ids):
        assert outcome.status == "written", outcome.reason
    return folder / "tasks"


def prompt_of(task: Path, code: Code, answer: str) -> str:
    """Return the judge's prompt for an answer to a task, both of its texts in one."""
    truth = json.loads((task / "tests" / "ground_truth.json").read_text(encoding="utf-8"))["ground_truth"]
    criteria = json.loads((task / "tests" / "task_metadata.json").read_text(encoding="utf-8"))["evaluation_criteria"]
    system, user = judging.prompt(
        (task / "instruction.md").read_text(encoding="utf-8"),
        as_markdown(criteria),
        as_markdown(truth),
        answer,
        evidence(answer, code),
    )
    return f"# SYSTEM\n\n{system}\n\n# USER\n\n{user}\n"


def digest(prompt: str) -> str:
    """Return what a prompt is known by."""
    return hashlib.sha256(prompt.encode()).hexdigest()[:16]


class Asked(NamedTuple):
    """An answer, what a judge is asked about it, and what the verifier gives it."""

    task_id: str
    kind: str
    prompt: str
    reward: float


def prompts() -> Iterator[Asked]:
    """Yield the prompts of today for all answers."""
    with tempfile.TemporaryDirectory() as scratch:
        tasks = tasks_of_the_sample(judged_tasks(), Path(scratch))
        for task_id in judged_tasks():
            task = tasks / task_id
            code = Code.read(task / "environment" / "project")
            key = json.loads((task / "tests" / "ground_truth.json").read_text(encoding="utf-8"))["key"]
            for kind in KINDS:
                answer = (FIXTURES / task_id / f"{kind}.md").read_text(encoding="utf-8")
                yield Asked(task_id, kind, prompt_of(task, code, answer), verify.score(answer, key)["reward"])


def compare() -> tuple[list[Graded], list[Graded], int]:
    """Return the answers with the judge's grade and with the verifier's reward, and the number of unchanged prompts."""
    grades = json.loads((FIXTURES / "grades.json").read_text(encoding="utf-8"))
    by_judge, by_verifier, same = [], [], 0
    for asked in prompts():
        kept = json.loads((REPLIES / asked.task_id / f"{asked.kind}.json").read_text(encoding="utf-8"))
        same += kept["prompt"] == digest(asked.prompt)
        overall = judging.AnswerVerdict.read(kept["reply"])["overall"]
        graded = Graded(asked.task_id, asked.kind, grades[asked.task_id][asked.kind]["overall"], overall / 100)
        by_judge.append(graded)
        by_verifier.append(replace(graded, reward=asked.reward))
    return by_judge, by_verifier, same


def in_order(answers: Sequence[Graded]) -> float:
    """Return the share of all clear pairs within a task, wrong answers too, that are in the readers' order."""
    won = [
        0.5 * ((better.reward > worse.reward) + (better.reward >= worse.reward))
        for better in answers
        for worse in answers
        if better.task_id == worse.task_id and better.grade >= worse.grade + CLEAR
    ]
    return sum(won) / len(won)


def correlation(answers: Sequence[Graded]) -> float:
    """Return Spearman's rank correlation with the readers' grades, wrong answers too."""
    return float(spearmanr([a.reward for a in answers], [a.grade for a in answers]).statistic)


def table(by_judge: Sequence[Graded], by_verifier: Sequence[Graded], same: int) -> str:
    """Return the Markdown table and the sentence below it."""
    rows = [("pairs in the readers' order", in_order), ("Spearman with the readers", correlation)]
    lines = ["| all six kinds | verify.py | judge |", "|---|---|---|"]
    lines += [f"| {name} | {measure(by_verifier):.2f} | {measure(by_judge):.2f} |" for name, measure in rows]
    for kind, other in (("thorough", "wrong"), ("brief", "wrong"), ("brief", "bluff"), ("brief", "shortbluff")):
        lines.append(
            f"| {kind} > {other} | {beats(by_verifier, kind, other):.2f} | {beats(by_judge, kind, other):.2f} |"
        )
    lines += [f"| {k}, mean reward | {mean(by_verifier, k):.2f} | {mean(by_judge, k):.2f} |" for k in KINDS]
    number = len({answer.task_id for answer in by_judge})
    told = f"{number} tasks, {len(by_judge)} answers; {same} of the prompts are word for word those of today."
    return "\n".join(lines) + f"\n\n{told}"


def ask(folder: Path) -> None:
    """Write the prompts below `folder`, under numbers, and the map from each number to [task id, kind]."""
    asked = list(prompts())
    random.shuffle(asked)
    for part in ("prompts", "replies"):
        (folder / part).mkdir(parents=True)
    numbered = {f"{number:03}": one for number, one in enumerate(asked, 1)}
    for name, one in numbered.items():
        write_whole(folder / "prompts" / f"{name}.txt", one.prompt)
    key = {name: [one.task_id, one.kind] for name, one in numbered.items()}
    write_whole(folder / "map.json", json.dumps(key, indent=1) + "\n")


def record(folder: Path) -> None:
    """Keep the replies below `folder`; SystemExit at the first that is no verdict."""
    for name, (task_id, kind) in json.loads((folder / "map.json").read_text(encoding="utf-8")).items():
        prompt = (folder / "prompts" / f"{name}.txt").read_text(encoding="utf-8")
        reply = (folder / "replies" / f"{name}.json").read_text(encoding="utf-8")
        try:
            judging.AnswerVerdict.read(reply)
        except judging.JudgeError as error:
            raise SystemExit(f"{name}: {error}") from None
        kept = {"prompt": digest(prompt), "reply": reply}
        path = REPLIES / task_id / f"{kind}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps(kept, indent=1, ensure_ascii=False) + "\n")


def main() -> None:
    """Write the table, write prompts, or take in replies."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ask", type=Path, metavar="FOLDER")
    parser.add_argument("--record", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    if options.ask or options.record:
        ask(options.ask) if options.ask else record(options.record)
        return
    text = table(*compare())
    print(text)
    page = DOCUMENT.read_text(encoding="utf-8")
    write_whole(DOCUMENT, MARK.sub(lambda match: f"{match[1]}{text}\n{match[2]}", page))


if __name__ == "__main__":
    main()

"""How well the verifier tells knowledge from pretence: scores answers of known worth and checks the bounds.

`python -m tests.bench.validity` measures the bundled sample, and the real scenarios where $LOCOBENCH_REAL names a
folder that holds their materialize.py; it rewrites the tables and figures of docs/VERIFIER.md. Exit code 1 when a bound
is missed.
"""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from adapter import LoCoBenchAdapter, LoCoBenchLoader
from extract_dataset import extract
from pipeline.catalog import REPOSITORY
from pipeline.files import whole_file
from pipeline.markdown import as_markdown
from pipeline.project import Project
from pipeline.render import render_instruction
from pipeline.verifier import verifier
from tests.bench import answers
from tests.bench.answers import Case

DOCS = REPOSITORY / "docs"
INDEPENDENT = REPOSITORY / "tests" / "fixtures" / "answers"

ATTACKS = (
    "blank", "filler", "instruction echo", "file listing", "echo + listing + fence", "project text",
    "programming dictionary", "benchmark vocabulary",
)  # fmt: skip
NEAR_MISSES = ("another task, same project", "another project")
Scores = dict[str, dict[str, list[float]]]
"""Rewards (0-1) by kind of answer and task id."""


def load_cases(data_dir: Path) -> list[Case]:
    """Build every task of `data_dir` as the adapter would, without writing it."""
    with tempfile.TemporaryDirectory() as folder:
        dataset = Path(folder) / "dataset.jsonl"
        extract(data_dir, dataset)
        loader = LoCoBenchLoader(dataset)
        adapter = LoCoBenchAdapter(loader, Path(folder), data_dir)
        cases = []
        projects: dict[Path, Project] = {}
        for task in loader:
            folder = adapter._get_project_dir(task.id)
            projects.setdefault(folder, Project.scan(folder))
            mapping = projects[folder].mapping(task.context_files)
            instruction = render_instruction(task, mapping, hints=False)
            cases.append(Case(task, mapping, instruction, adapter._grade(task, mapping, instruction)))
    return cases


def answers_to(case: Case, cases: list[Case]) -> dict[str, list[str]]:
    """Return answers to one task by kind."""
    independent = INDEPENDENT / case.task.id
    return {
        "oracle": [case.grading.oracle],
        "half the truth": [answers.part_of_truth(case, 0.5)],
        "quarter of the truth": [answers.part_of_truth(case, 0.25)],
        "reworded truth": [answers.reworded(case)],
        "blank": [" \n\n "],
        "filler": [answers.FILLER],
        "instruction echo": [case.instruction],
        "file listing": [answers.listing(case)],
        "echo + listing + fence": [answers.echo_listing_fence(case)],
        "project text": [answers.project_text(case)],
        "programming dictionary": [answers.PROGRAMMING_WORDS],
        "benchmark vocabulary": [answers.benchmark_vocabulary(case, cases, size) for size in (100, 400)],
        "another task, same project": answers.truths_of_project(case, cases),
        "another project": answers.truths_elsewhere(case, cases),
        "evaluation criteria": [as_markdown(case.task.evaluation_criteria)],
        "expected approach": [as_markdown(case.task.expected_approach)],
        **{
            f"independent: {kind}": [path.read_text(encoding="utf-8") for path in independent.glob(f"{kind}.md")]
            for kind in ("thorough", "brief", "bluff")
        },
    }


def measure(cases: list[Case]) -> Scores:
    """Score every kind of answer to every task."""
    score = verifier().score
    rewards: Scores = {}
    for case in cases:
        for kind, texts in answers_to(case, cases).items():
            rewards.setdefault(kind, {})[case.task.id] = [score(text, case.grading.key)["reward"] for text in texts]
    return {kind: by_task for kind, by_task in rewards.items() if any(by_task.values())}


def flat(by_task: dict[str, list[float]]) -> list[float]:
    return [reward for rewards in by_task.values() for reward in rewards]


def wins(scores: Scores, better: str, kinds: Iterable[str]) -> float:
    """Return the share of (task, answer) pairs in which `better` scores above the answer of one of `kinds`."""
    pairs = [
        scores[better][task_id][0] > reward
        for kind in kinds
        for task_id, rewards in scores.get(kind, {}).items()
        for reward in rewards
    ]
    return statistics.mean(pairs)


def share_lowered(cases: list[Case], tries: int = 8) -> float:
    """Return the share of cases in which one more sentence of the truth lowers an answer made of some of them."""
    score = verifier().score
    lowered = total = 0
    for case in cases:
        chance = random.Random(case.task.id)
        sentences = answers.units(case.grading.oracle)
        for _ in range(tries):
            chosen = sorted(chance.sample(range(len(sentences)), chance.randint(1, len(sentences))))
            added = chance.choice(chosen)
            more = score("\n".join(sentences[index] for index in chosen), case.grading.key)["reward"]
            less = score("\n".join(sentences[index] for index in chosen if index != added), case.grading.key)["reward"]
            lowered += more < less
            total += 1
    return lowered / total


@dataclass(frozen=True)
class Bound:
    """One promise of the verifier, and what was measured."""

    promise: str
    value: float
    limit: float
    at_most: bool

    @property
    def kept(self) -> bool:
        return self.value <= self.limit if self.at_most else self.value >= self.limit


def check(cases: list[Case], scores: Scores) -> list[Bound]:
    """Return every promise with its measured value."""
    attacks = [kind for kind in ATTACKS if kind in scores]

    def worst(kinds: Iterable[str]) -> float:
        return max(max(flat(scores[kind])) for kind in kinds)

    def mean(kind: str) -> float:
        return statistics.mean(flat(scores[kind])) if kind in scores else 0.0

    return [
        Bound("oracle, lowest", min(flat(scores["oracle"])), 1.0, False),
        Bound("blank and filler, highest", worst(("blank", "filler")), 0.0, True),
        Bound("attack, highest mean", max(mean(kind) for kind in attacks), 0.15, True),
        Bound("attack, highest", worst(attacks), 0.30, True),
        Bound("another task of the same project, mean", mean(NEAR_MISSES[0]), 0.30, True),
        Bound("another project, mean", mean(NEAR_MISSES[1]), 0.20, True),
        Bound(
            "half the truth beats attack or near miss",
            wins(scores, "half the truth", (*attacks, *NEAR_MISSES)),
            0.98,
            False,
        ),
        Bound("quarter of the truth beats attack", wins(scores, "quarter of the truth", attacks), 0.95, False),
        Bound("reworded truth, mean", mean("reworded truth"), 0.55, False),
        Bound("one more true sentence lowers the score", share_lowered(cases), 0.02, True),
    ]


def as_table(cases: list[Case], scores: Scores, bounds: list[Bound]) -> str:
    """Return the two tables of docs/VERIFIER.md."""
    lines = [f"{len(cases)} tasks.", "", "| answer | mean | lowest | highest | answers |", "|---|---|---|---|---|"]
    for kind, by_task in scores.items():
        rewards = flat(by_task)
        lines.append(
            f"| {kind} | {statistics.mean(rewards):.3f} | {min(rewards):.3f} | {max(rewards):.3f} | {len(rewards)} |"
        )
    lines += ["", "| promise | bound | measured | |", "|---|---|---|---|"]
    for bound in bounds:
        sign = "at most" if bound.at_most else "at least"
        lines.append(
            f"| {bound.promise} | {sign} {bound.limit:g} | {bound.value:.3f} | {'kept' if bound.kept else 'MISSED'} |"
        )
    return "\n".join(lines)


def draw(scores: Scores, path: Path) -> None:
    """Draw the distribution of rewards by kind of answer, as SVG."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "validity"
    import matplotlib.pyplot as plt

    kinds = list(reversed(scores))
    figure, axes = plt.subplots(figsize=(8, 0.34 * len(kinds) + 0.8), layout="constrained")
    axes.boxplot(
        [flat(scores[kind]) for kind in kinds], orientation="horizontal", widths=0.6, flierprops={"markersize": 3}
    )
    axes.set_yticks(range(1, len(kinds) + 1), kinds)
    axes.set_xlim(-0.02, 1.02)
    axes.set_xlabel("reward")
    axes.grid(axis="x", alpha=0.3)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def replace_section(page: Path, name: str, text: str) -> None:
    """Put `text` between the comments `<!-- name -->` and `<!-- end name -->` of a Markdown page."""
    before, start, rest = page.read_text(encoding="utf-8").partition(f"<!-- {name} -->\n")
    _, end, after = rest.partition(f"<!-- end {name} -->")
    if not start or not end:
        raise SystemExit(f"{page}: no section {name}")
    with whole_file(page) as stream:
        stream.write(f"{before}{start}{text}\n{end}{after}".encode())


def main() -> int:
    kept = True
    with tempfile.TemporaryDirectory() as folder:
        sources = {"sample": REPOSITORY / "data" / "sample"}
        if real := os.environ.get("LOCOBENCH_REAL"):
            sources["real"] = Path(folder) / "data"
            subprocess.run([sys.executable, Path(real) / "materialize.py", sources["real"]], check=True)
        else:
            print("LOCOBENCH_REAL names no folder with real scenarios: the bundled sample only")
        for name, data_dir in sources.items():
            cases = load_cases(data_dir)
            scores = measure(cases)
            bounds = check(cases, scores)
            table = as_table(cases, scores, bounds)
            print(f"\n{name}: {table}")
            draw(scores, DOCS / f"verifier_{name}.svg")
            replace_section(DOCS / "VERIFIER.md", name, table)
            kept &= all(bound.kept for bound in bounds)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())

"""How well the verifier tells knowledge from pretence: scores answers of known worth and checks the bounds.

`python -m tools.bench.validity` measures the bundled sample and, where $LOCOBENCH_REAL names a folder that holds their
materialize.py, the real scenarios with their code; answers that expert readers graded, too (tools/bench/agreement.py).
It rewrites the tables and the figure of docs/. Exit code 1 when a bound is missed.
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
from locobench.dataset.catalog import REPOSITORY
from locobench.generate.make import grade, render_instruction
from locobench.generate.project import Project
from locobench.scoring.verifier import verifier
from locobench.shared.files import write_whole
from locobench.shared.markdown import as_markdown
from tests.support.data_builder import extract
from tools.bench import agreement, answers
from tools.bench.agreement import FIXTURES
from tools.bench.answers import Case

DOCS = REPOSITORY / "docs"

ATTACKS = (
    "blank", "filler", "instruction echo", "file listing", "echo + listing + fence", "project text",
    "programming dictionary", "benchmark vocabulary",
)  # fmt: skip
NOTHING = ("blank", "filler", "instruction echo", "file listing", "programming dictionary")
NEAR_MISSES = ("another task, same project", "another project")
# Programs that form sentences of their own: measured and shown, promised nothing (docs/VERIFIER.md says why).
WRITERS = ("file: identifier, in five sentences", "learned ranker, in sentences")
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
            place = adapter._get_project_dir(task.id)
            if place not in projects:
                projects[place] = Project.scan(place)
            mapping = projects[place].mapping(task.context_files)
            instruction = render_instruction(task, mapping, hints=False)
            grading = grade(task, mapping, instruction, adapter.options.scoring)
            cases.append(Case(task, mapping, instruction.text, grading))
    return cases


def rankers(cases: list[Case]) -> dict[str, answers.Ranker]:
    """Return for each project a ranker that learned from the other half of the projects."""
    projects = sorted({case.task.project_id for case in cases})
    learned = [
        answers.Ranker([case for case in cases if projects.index(case.task.project_id) % 2 == half]) for half in (0, 1)
    ]
    return {project: learned[1 - number % 2] for number, project in enumerate(projects)}


def answers_to(case: Case, cases: list[Case], ranker: answers.Ranker) -> dict[str, list[str]]:
    """Return answers to one task by kind."""
    written = FIXTURES / case.task.id
    return {
        "oracle": [case.grading.oracle],
        **{f"oracle: {kind}": [text] for kind, text in answers.presentations(case).items()},
        "oracle: 20 lines quoted beside it": [answers.with_quoted_lines(case)],
        "oracle: three times longer": [answers.three_times_longer(case)],
        "half the oracle's answer": [answers.part_of_oracle(case, 0.5)],
        "quarter of the oracle's answer": [answers.part_of_oracle(case, 0.25)],
        **{
            kind: [path.read_text(encoding="utf-8") for path in written.glob(f"{name}.md")]
            for name, kind in (
                ("paraphrase", "truth, paraphrased"), ("thorough", "thorough"), ("german", "thorough, in German"),
                ("spanish", "thorough, in Spanish"),
            )
        },
        "blank": [" \n\n "],
        "filler": [answers.FILLER],
        "instruction echo": [case.instruction],
        "file listing": [answers.listing(case)],
        "echo + listing + fence": [answers.echo_listing_fence(case)],
        "project text": [answers.project_text(case)],
        "programming dictionary": [answers.PROGRAMMING_WORDS],
        "benchmark vocabulary": [answers.benchmark_vocabulary(case, cases, size) for size in (100, 400)],
        **{f"script: {kind}": [text] for kind, text in answers.scripts(case, ranker).items()},
        "another task, same project": answers.truths_of_project(case, cases),
        "another project": answers.truths_elsewhere(case, cases),
        "evaluation criteria": [as_markdown(case.task.evaluation_criteria)],
        "expected approach": [as_markdown(case.task.expected_approach)],
    }  # fmt: skip


def measure(cases: list[Case]) -> Scores:
    """Score every kind of answer to every task."""
    score = verifier().score
    rewards: Scores = {}
    ranker = rankers(cases)
    for case in cases:
        for kind, texts in answers_to(case, cases, ranker[case.task.project_id]).items():
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


NOTICEABLE = 0.01


def share_lowered(cases: list[Case], tries: int = 8) -> float:
    """Return the share of cases in which one more of the oracle's sentences noticeably lowers an answer of some."""
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
            lowered += more < less - NOTICEABLE
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

    scripts = [kind for kind in scores if kind.startswith("script: ") and kind.removeprefix("script: ") not in WRITERS]
    cost = {kind: 1 - mean(kind) for kind in scores if kind.startswith("oracle: ")}
    added = ("oracle: 20 lines quoted beside it", "oracle: three times longer")
    bounds = [
        Bound("oracle, lowest", min(flat(scores["oracle"])), 1.0, False),
        Bound("blank, filler, echo, listing, dictionary: highest", worst(NOTHING), 0.0, True),
        Bound("attack, highest mean", max(mean(kind) for kind in attacks), 0.15, True),
        Bound("attack, highest", worst(attacks), 0.30, True),
        Bound("script without understanding, highest mean", max(mean(kind) for kind in scripts), 0.25, True),
        Bound("script without understanding, highest", worst(scripts), 0.40, True),
        Bound("another task of the same project, mean", mean(NEAR_MISSES[0]), 0.30, True),
        Bound("another project, mean", mean(NEAR_MISSES[1]), 0.20, True),
        Bound("presentation, highest mean cost", max(cost[kind] for kind in cost if kind not in added), 0.03, True),
        Bound("quoted lines or length, highest mean cost", max(cost[kind] for kind in added), 0.05, True),
        Bound(
            "half the oracle's answer beats attack or near miss",
            wins(scores, "half the oracle's answer", (*attacks, *NEAR_MISSES)),
            0.98,
            False,
        ),
        Bound(
            "quarter of the oracle's answer beats attack",
            wins(scores, "quarter of the oracle's answer", attacks),
            0.95,
            False,
        ),
        Bound("one more true sentence costs more than 0.01", share_lowered(cases), 0.02, True),
    ]
    if "truth, paraphrased" in scores:
        bounds.append(Bound("truth, paraphrased, mean", mean("truth, paraphrased"), 0.55, False))
    for language in ("German", "Spanish"):
        if (kind := f"thorough, in {language}") in scores:
            same = [scores["thorough"][task_id][0] for task_id, found in scores[kind].items() if found]
            bounds.append(Bound(f"cost of {language}", statistics.mean(same) - mean(kind), 0.15, True))
    return bounds


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


def replace_section(page: Path, name: str, text: str) -> None:
    """Put `text` between the comments `<!-- name -->` and `<!-- end name -->` of a Markdown page."""
    before, start, rest = page.read_text(encoding="utf-8").partition(f"<!-- {name} -->\n")
    _, end, after = rest.partition(f"<!-- end {name} -->")
    if not start or not end:
        raise SystemExit(f"{page}: no section {name}")
    write_whole(page, f"{before}{start}{text}\n{end}{after}")


def truths(cases: list[Case]) -> str:
    """Return how far the ground truths know the code bases they are about, in a sentence."""
    named = existing = rare = 0
    for case in cases:
        names = verifier().symbols(as_markdown(case.task.ground_truth)) - set(case.grading.key["given"])
        named += len(names)
        existing += len(names & case.index.names.keys())
        rare += len(names & case.index.rare)
    return (
        f"{len(cases)} truths name {named} identifiers that their task does not; {existing} of them"
        f" ({existing / max(1, named):.0%}) occur in the code base, and {rare / len(cases):.1f} a truth are in few"
        " files, so that nobody guesses them."
    )


def main() -> int:
    kept = True
    graded: dict[str, list[agreement.Graded]] = {}
    with tempfile.TemporaryDirectory() as folder:
        sources = {"sample": REPOSITORY / "data" / "sample"}
        if real := os.environ.get("LOCOBENCH_REAL"):
            sources["real"] = Path(folder) / "data"
            command = [sys.executable, str(Path(real) / "materialize.py"), str(sources["real"]), "--real-code"]
            subprocess.run(command, check=True)
        else:
            print("LOCOBENCH_REAL names no folder with real scenarios: the bundled sample only")
        for name, data_dir in sources.items():
            cases = load_cases(data_dir)
            scores = measure(cases)
            bounds = check(cases, scores)
            table = as_table(cases, scores, bounds)
            print(f"\n{name}: {table}")
            replace_section(DOCS / "VERIFIER.md", name, table)
            replace_section(DOCS / "DATA_EXPLORATION.md", f"truths {name}", truths(cases))
            kept &= all(bound.kept for bound in bounds)
            kit = agreement.kit_folder()
            if name == "sample":
                graded["bundled sample"] = agreement.sample_answers(cases)
            elif kit:
                graded["real scenarios"] = agreement.kit_answers(cases, kit)
    for name, found in graded.items():
        halves = list(dict.fromkeys(answer.half for answer in found))
        parts = {"all": found, **{half: [answer for answer in found if answer.half == half] for half in halves}}
        if name == "bundled sample":
            parts["untouched (both looks)"] = [answer for answer in found if answer.half != "tuned"]
        table = agreement.table(parts)
        print(f"\nagreement with readers, {name}:\n{table}")
        replace_section(DOCS / "VERIFIER.md", f"agreement {name}", table)
    if len(graded) > 1:
        agreement.draw(graded, DOCS / "verifier_agreement.svg")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())

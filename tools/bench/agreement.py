"""The verifier's agreement with expert readers, on answers that they graded blind, with the code at hand.

Two sets: tests/fixtures/answers over the bundled sample, and one over real scenarios that may be beside the checkout
($LOCOBENCH_VALIDITY, default ../shared/validity) with their code bases ($LOCOBENCH_REAL).
"""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from scipy.stats import spearmanr

from locobench.shared.installation import REPOSITORY
from tools.bench.answers import Case

FIXTURES = REPOSITORY / "tests" / "fixtures" / "answers"
KINDS = ("thorough", "skim", "brief", "bluff", "shortbluff", "wrong")
# Points (of 100) by which grades must differ for readers to be sure of the order.
CLEAR = 15


@dataclass(frozen=True)
class Graded:
    """One answer: what a reader gave it (0-100) and what the verifier gives it (0-1)."""

    task_id: str
    kind: str
    grade: float
    reward: float


Scorer = Callable[[Case, str], float]
"""Gives an answer to a task its reward, 0 to 1."""


def sample_answers(cases: Iterable[Case], score: Scorer = Case.reward) -> list[Graded]:
    """Score the answers of the repository."""
    grades = json.loads((FIXTURES / "grades.json").read_text(encoding="utf-8"))
    found = []
    for case in cases:
        for kind in KINDS if case.task.id in grades else ():
            answer = (FIXTURES / case.task.id / f"{kind}.md").read_text(encoding="utf-8")
            grade = grades[case.task.id][kind]["overall"]
            found.append(Graded(case.task.id, kind, grade, score(case, answer)))
    return found


def kit_folder() -> Path | None:
    """Return the folder of the set over real scenarios, if it is there."""
    folder = Path(os.environ.get("LOCOBENCH_VALIDITY", REPOSITORY.parent / "shared" / "validity"))
    return folder if (folder / "grades.json").is_file() else None


def kit_labels(folder: Path) -> dict[str, str]:
    """Return the task of each label in the set over real scenarios."""
    labels: dict[str, str] = json.loads((folder / "tasks.json").read_text())
    return labels


def kit_answers(cases: Iterable[Case], folder: Path, score: Scorer = Case.reward) -> list[Graded]:
    """Score the answers to real scenarios."""
    labels = kit_labels(folder)
    grades = json.loads((folder / "grades.json").read_text())
    by_id = {case.task.id: case for case in cases}
    found = []
    for label, task_id in labels.items():
        case = by_id[task_id]
        for kind in KINDS:
            answer = (folder / "answers" / f"{label}.{kind}.md").read_text(encoding="utf-8")
            found.append(Graded(task_id, kind, grades[label][kind]["overall"], score(case, answer)))
    return found


def mean(answers: Iterable[Graded], kind: str) -> float:
    return statistics.mean(answer.reward for answer in answers if answer.kind == kind)


def in_order(answers: Sequence[Graded]) -> float:
    """Return the share of pairs, within a task and CLEAR points apart, that the reward orders as the reader did.

    A tie counts half. Wrong answers are left out.
    """
    pairs = [
        (better, worse)
        for better in answers
        for worse in answers
        if better.task_id == worse.task_id
        and "wrong" not in (better.kind, worse.kind)
        and better.grade >= worse.grade + CLEAR
    ]
    return _won(pairs)


def beats(answers: Sequence[Graded], kind: str, other: str) -> float:
    """Return the share of tasks in which the answer of `kind` has more reward than that of the `other`."""
    by_task = {(answer.task_id, answer.kind): answer for answer in answers}
    return _won([(by_task[task_id, kind], by_task[task_id, other]) for task_id in {a.task_id for a in answers}])


def _won(pairs: Sequence[tuple[Graded, Graded]]) -> float:
    return statistics.mean(0.5 * ((a.reward > b.reward) + (a.reward >= b.reward)) for a, b in pairs)


def correlation(answers: Sequence[Graded]) -> float:
    """Return Spearman's rank correlation of reward and grade over all answers but the wrong ones."""
    honest = [answer for answer in answers if answer.kind != "wrong"]
    return float(spearmanr([a.reward for a in honest], [a.grade for a in honest]).statistic)


def least(answers: Iterable[Graded], kind: str) -> float:
    return min(answer.reward for answer in answers if answer.kind == kind)


PROMISES = (
    ("pairs in the readers' order", in_order, 0.93),
    ("Spearman with the readers", correlation, 0.75),
    ("brief > bluff", lambda answers: beats(answers, "brief", "bluff"), 0.85),
    ("brief > short bluff", lambda answers: beats(answers, "brief", "shortbluff"), 0.85),
    ("thorough > bluff", lambda answers: beats(answers, "thorough", "bluff"), 0.97),
    ("thorough, mean reward", lambda answers: mean(answers, "thorough"), 0.60),
    ("brief, mean reward", lambda answers: mean(answers, "brief"), 0.25),
    ("brief, lowest reward", lambda answers: least(answers, "brief"), 0.001),
    ("bluff, mean reward", lambda answers: -mean(answers, "bluff"), -0.22),
    ("short bluff, mean reward", lambda answers: -mean(answers, "shortbluff"), -0.12),
)
"""(what, measure, the least it should be); a negative figure is one that should be small."""


def table(sets: dict[str, list[Graded]]) -> str:
    """Return a Markdown table with a column for each set of answers."""
    lines = [
        f"| | bound | {' | '.join(sets)} |",
        f"|---|---|{'---|' * len(sets)}",
        "| tasks, answers | | "
        + " | ".join(f"{len({a.task_id for a in part})}, {len(part)}" for part in sets.values())
        + " |",
    ]
    for name, measure, bound in PROMISES:
        values = [measure(part) for part in sets.values()]
        shown = [f"{abs(value):.2f}" + ("" if value >= bound else " (missed)") for value in values]
        sign = "at most" if bound < 0 else "at least"
        lines.append(f"| {name} | {sign} {abs(bound):g} | {' | '.join(shown)} |")
    values = [beats(part, "thorough", "wrong") for part in sets.values()]
    lines.append(f"| thorough > wrong | | {' | '.join(f'{value:.2f}' for value in values)} |")
    for kind in ("skim", "wrong"):
        values = [mean(part, kind) for part in sets.values()]
        lines.append(f"| {kind}, mean reward | | {' | '.join(f'{value:.2f}' for value in values)} |")
    return "\n".join(lines)


def draw(answers: dict[str, list[Graded]], path: Path) -> None:
    """Draw reward against grade, one dot an answer, one panel a set, as SVG."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "agreement"
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(
        1, len(answers), figsize=(4.6 * len(answers) + 1.2, 4.4), layout="constrained", squeeze=False, sharey=True
    )
    for axes, (name, part) in zip(panels[0], answers.items(), strict=True):
        for kind, marker in zip(KINDS, "osD^vx", strict=True):
            dots = [answer for answer in part if answer.kind == kind]
            axes.scatter([a.grade for a in dots], [a.reward for a in dots], marker=marker, s=22, alpha=0.75, label=kind)
        axes.set(title=name, xlabel="readers' grade", xlim=(-2, 102), ylim=(-0.02, 1.02))
        axes.grid(alpha=0.3)
    panels[0][0].set_ylabel("reward")
    figure.legend(*panels[0][0].get_legend_handles_labels(), loc="outside right upper")
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)

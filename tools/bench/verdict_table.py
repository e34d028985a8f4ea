"""How often is a verdict wrong when the data are as they are in practice? Writes docs/STATISTICS.md's second table.

Run by `make power-table`. Every experiment is two made arms that go through the whole of `compare`: in all rows but the
last ones nothing changed between them, so each verdict of improvement or regression is false.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean
from typing import Any

from harness.models import EvalResult, Outcome
from measure.compare.comparison import compare
from measure.compare.doubts.warnings import zeros_of_groups
from measure.compare.verdicts import Comparison, Verdict
from tests.support.results import run
from tools.bench.power_table import DOCUMENT, write_table

BEGIN, END = "<!-- verdict table: begin -->", "<!-- verdict table: end -->"
FRESH = 1_000_000
"""Seeds from here on are those of the table; the rules were made looking at smaller ones alone."""
REPETITIONS = 200


@dataclass(frozen=True)
class Experiment:
    """What a row's arms are made like."""

    tasks: int = 50
    runs: int = 3
    change: float = 0.0
    """Of B's mean."""
    passes: float | None = None
    """Mean pass rate; None for scores, whose runs vary by RUN_SD."""
    projects: int | None = None
    projects_named: bool = True
    project_sd: float = 0.0
    """How much the change differs by project; its mean over projects is `change`."""
    timeouts: float = 0.0
    """Share of runs in both arms that left no reward since the agent's time was up."""
    lost: tuple[float, float] = (0.0, 0.0)
    """Share of each arm's runs, or of its failing ones, that is lost."""
    failing_only: bool = False
    broken: int = 0
    """Tasks of one repository that score 0 in A."""
    repositories: int | None = None
    fixed_tasks: bool = False


RUN_SD = 0.2
PASS_MARK = 0.5


def made(experiment: Experiment, seed: int) -> Comparison:
    """One experiment: both arms, drawn and compared."""
    a, b = arms_of(experiment, seed)
    return compare(a, b, fixed_tasks=experiment.fixed_tasks)


def arms_of(experiment: Experiment, seed: int) -> tuple[list[EvalResult], list[EvalResult]]:
    """Draw both arms."""
    rng = random.Random(seed)
    chances = [_level(experiment, rng) for _ in range(experiment.tasks)]
    count = experiment.projects or experiment.tasks
    effects = [rng.gauss(0, experiment.project_sd) + experiment.change for _ in range(count)]
    arms = []
    for arm in (0, 1):
        results = []
        for task, level in enumerate(chances):
            mean = level + effects[task % count] * arm
            broken = arm == 0 and task < experiment.broken
            for index in range(experiment.runs):
                results.append(_run(experiment, rng, task, index, 0.0 if broken else mean, arm))
        arms.append(results)
    return arms[0], arms[1]


def _level(experiment: Experiment, rng: random.Random) -> float:
    """A task's own mean: tasks differ widely, as those of a benchmark do."""
    if experiment.passes is None:
        return rng.uniform(0.25, 0.75)
    return rng.betavariate(4 * experiment.passes, 4 * (1 - experiment.passes))


def _run(experiment: Experiment, rng: random.Random, task: int, index: int, mean: float, arm: int) -> EvalResult:
    if experiment.passes is None:
        score = min(1.0, max(0.0, rng.gauss(mean, RUN_SD))) if mean else 0.0
    else:
        score = float(rng.random() < mean)
    groups = {}
    if experiment.projects and experiment.projects_named:
        groups["project"] = f"p{task % experiment.projects}"
    if experiment.repositories:
        later = max(0, task - experiment.broken)
        groups["repository_name"] = f"r{later % (experiment.repositories - 1) + 1 if task >= experiment.broken else 0}"
    ended = rng.random() < experiment.timeouts
    lost = rng.random() < experiment.lost[arm] and (not experiment.failing_only or score < PASS_MARK)
    outcome = Outcome.INFRA_ERROR if lost else Outcome.TIMEOUT if ended else Outcome.COMPLETED
    score = score if outcome is Outcome.COMPLETED else 0.0
    more: dict[str, Any] = {} if outcome is Outcome.COMPLETED else {"grades": []}
    return run(
        f"t{task:03}", "ab"[arm], passed=score == 1, score=score, index=index, groups=groups, outcome=outcome, **more
    )


@dataclass(frozen=True)
class Row:
    """Shares of a row's experiments, 0 to 1."""

    improvement: float
    regression: float
    too_little: float
    difference: float
    """Mean of the measured differences."""
    covered: float | None
    """Of those with an interval: it holds the change."""
    group_named: float
    """A sentence names a group that carries the difference, or that scored 0 in one arm alone."""


def simulate(experiment: Experiment, seeds: Sequence[int]) -> Row:
    """Draw one experiment for each seed."""
    found = [_told(made(experiment, seed)) for seed in seeds]
    return _row(experiment, found)


Told = tuple[Verdict, float, tuple[float, float] | None, bool]


def _told(comparison: Comparison) -> Told:
    interval = comparison.decision.interval
    ends = (interval.low, interval.high) if interval else None
    named = bool(zeros_of_groups(comparison.decision.units))
    return comparison.verdict, comparison.decision.difference, ends, named


def _row(experiment: Experiment, found: Sequence[Told]) -> Row:
    def share(verdict: Verdict) -> float:
        return sum(told[0] is verdict for told in found) / len(found)

    covered = [low <= experiment.change <= high for _, _, interval, _ in found if interval for low, high in [interval]]
    return Row(
        improvement=share(Verdict.IMPROVEMENT),
        regression=share(Verdict.REGRESSION),
        too_little=share(Verdict.NOT_ENOUGH_DATA),
        difference=fmean(told[1] for told in found),
        covered=fmean(covered) if covered else None,
        group_named=fmean(told[3] for told in found),
    )


PASSES = Experiment(passes=0.67)
UNCHANGED: dict[str, Experiment] = {
    "whole data, scores": Experiment(),
    "whole data, passes": PASSES,
    "10 % of both arms lost at random": replace(PASSES, lost=(0.1, 0.1)),
    "10 % of B lost at random": replace(PASSES, lost=(0.0, 0.1)),
    "10 % of B's failing runs lost": replace(PASSES, lost=(0.0, 0.1), failing_only=True),
    "20 % of B's failing runs lost": replace(PASSES, lost=(0.0, 0.2), failing_only=True),
    "40 % of B's failing runs lost": replace(PASSES, lost=(0.0, 0.4), failing_only=True),
    "all of B's failing runs lost": replace(PASSES, lost=(0.0, 1.0), failing_only=True),
    "40 % of both arms' failing runs lost": replace(PASSES, lost=(0.4, 0.4), failing_only=True),
    "15 % of both arms timed out, as 0": Experiment(timeouts=0.15),
    "12 projects, effects differ by 10 points": Experiment(projects=12, project_sd=0.1),
    "25 projects, effects differ by 10 points": Experiment(projects=25, project_sd=0.1),
    "200 tasks x 1 of 46 groups": Experiment(tasks=200, runs=1, repositories=46),
    "5 x 1": Experiment(tasks=5, runs=1),
    "10 x 1": Experiment(tasks=10, runs=1),
    "ceiling, passes at 97 %": Experiment(passes=0.97),
    "8 x 3, passes, `--regression`": Experiment(tasks=8, passes=0.8, fixed_tasks=True),
}
"""Nothing changed: every verdict is false."""
CHANGED: dict[str, Experiment] = {
    "+10 points, scores": Experiment(change=0.1),
    "+10 points, 2 % of both arms lost": Experiment(change=0.1, lost=(0.02, 0.02)),
    "+10 points, 25 projects": Experiment(change=0.1, projects=25, project_sd=0.1),
    "230 tasks x 1, 20 of one of 46 groups broken in A": Experiment(tasks=230, runs=1, repositories=46, broken=20),
}

HEADERS = ("50 x 3 unless said", "improvement", "regression", "not enough data", "mean difference", "interval holds it",
           "a group is named")  # fmt: skip


def table(repetitions: int, first_seed: int = FRESH) -> str:
    """The Markdown table."""
    lines = ["| " + " | ".join(HEADERS) + " |", "|---" + "|---:" * (len(HEADERS) - 1) + "|"]
    experiments = UNCHANGED | CHANGED
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        seeds = range(first_seed, first_seed + repetitions)
        drawn = {
            name: pool.map(partial(_one, experiment), seeds, chunksize=10) for name, experiment in experiments.items()
        }
        for name, experiment in experiments.items():
            row = _row(experiment, list(drawn[name]))
            shares = [row.improvement, row.regression, row.too_little]
            cells = [
                *map(_percent, shares),
                f"{100 * row.difference:+.1f}",
                _percent(row.covered),
                _percent(row.group_named),
            ]
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _one(experiment: Experiment, seed: int) -> Told:
    return _told(made(experiment, seed))


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f} %"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    parser.add_argument("--print", action="store_true", help="print the table of the seeds that rules are made by")
    arguments = parser.parse_args()
    if arguments.print:
        print(table(arguments.repetitions, 0))
        return 0
    text = f"{arguments.repetitions} simulated comparisons a row.\n\n{table(arguments.repetitions)}"
    write_table(DOCUMENT, BEGIN, END, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())

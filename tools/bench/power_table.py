"""The power of `compare`: simulates designs, and writes docs/STATISTICS.md's table of them.

Run by `make power-table`. Runs are drawn as independent passes and failures, each task with its own chance.
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from measure.compare.decision import Question, decide
from measure.compare.verdicts import UnitComparison, UnitKey, Verdict
from measure.statistics import estimates
from measure.summary.noise import Noise

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "STATISTICS.md"
BEGIN, END = "<!-- power table: begin -->", "<!-- power table: end -->"
SEED = 2027
"""Not the seed that the rules were made by."""


@dataclass(frozen=True)
class Rates:
    """Shares of the simulated comparisons, 0 to 1."""

    regression: float
    improvement: float
    broken_named: float
    """Share in which every broken task was named by itself."""


def simulate(
    *,
    tasks: int,
    runs: int,
    baseline: float,
    change: float,
    repetitions: int,
    broken: int = 0,
    spread: bool = False,
    fixed_tasks: bool = False,
) -> Rates:
    """Compare `repetitions` made pairs of arms: tasks pass with `baseline`, in B with `baseline + change`.

    `broken` tasks always pass in A and never in B. With `spread` the tasks' chances differ: Beta(4, 1) scaled
    to the baseline's mean, so that some tasks are nearly always solved and some seldom.
    """
    rng = np.random.default_rng(SEED)
    found = {Verdict.REGRESSION: 0, Verdict.IMPROVEMENT: 0}
    named = 0
    for _ in range(repetitions):
        chance_a = rng.beta(4, 4 / baseline - 4, tasks) if spread else np.full(tasks, baseline)
        chance_b = np.clip(chance_a + change, 0, 1)
        chance_a[:broken], chance_b[:broken] = 1, 0
        counts = zip(rng.binomial(runs, chance_a), rng.binomial(runs, chance_b), strict=True)
        units = [_unit(i, int(a), int(b), runs) for i, (a, b) in enumerate(counts)]
        decision = decide(units, Question(fixed_tasks=fixed_tasks), alone=bool(broken))
        regressed = {unit.key.task_id for unit in decision.having(Verdict.REGRESSION)}
        named += all(str(i) in regressed for i in range(broken))
        if decision.verdict in found:
            found[decision.verdict] += 1
    return Rates(found[Verdict.REGRESSION] / repetitions, found[Verdict.IMPROVEMENT] / repetitions, named / repetitions)


def _unit(number: int, passed_a: int, passed_b: int, runs: int) -> UnitComparison:
    return UnitComparison.model_construct(
        key=UnitKey(str(number)),
        scores_a=(0.0,) * runs,
        scores_b=(0.0,) * runs,
        passed_a=passed_a,
        passed_b=passed_b,
        difference=(passed_b - passed_a) / runs,
        groups={},
    )


DESIGNS = [(10, 5), (20, 3), (20, 5), (20, 6), (20, 10), (50, 3), (50, 5), (100, 3)]


HEADERS = (
    "tasks x runs",
    "unchanged, called worse",
    "unchanged, called better",
    "10 points worse, found",
    "20 points worse, found",
    "the same by formula",
    "20 points worse, tasks differ, found",
    "one broken task, named",
    "`--regression`, unchanged, called worse",
    "`--regression`, 20 points worse, found",
)


def table(repetitions: int) -> str:
    """The Markdown table; every line one design of tasks x runs an arm, all at a pass rate of 80 %."""
    lines = ["| " + " | ".join(HEADERS) + " |", "|---" * len(HEADERS) + "|"]
    with ProcessPoolExecutor() as pool:
        for (tasks, runs), cells in zip(DESIGNS, pool.map(partial(_cells, repetitions), DESIGNS), strict=True):
            lines.append(f"| {tasks} x {runs} | " + " | ".join(f"{100 * cell:.1f} %" for cell in cells) + " |")
    return "\n".join(lines)


def _cells(repetitions: int, design: tuple[int, int]) -> list[float]:
    tasks, runs = design
    made = partial(simulate, tasks=tasks, runs=runs, baseline=0.8, repetitions=repetitions)
    unchanged = made(change=0.0)
    sd = Noise("pass_rate", 0.8).sd(-0.2, runs)
    return [
        unchanged.regression,
        unchanged.improvement,
        made(change=-0.1).regression,
        made(change=-0.2).regression,
        estimates.paired_power(0.2, sd, tasks),
        made(change=-0.2, spread=True).regression,
        made(change=0.0, broken=1).broken_named,
        made(change=0.0, fixed_tasks=True).regression,
        made(change=-0.2, fixed_tasks=True).regression,
    ]


def write_table(document: Path, begin: str, end: str, text: str) -> None:
    """Put `text` between the two marks of a document."""
    before, rest = document.read_text(encoding="utf-8").split(begin)
    _, after = rest.split(end)
    document.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")
    print(f"wrote {document}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=400)
    parser.add_argument("--print", action="store_true", help="print the table instead of writing it")
    arguments = parser.parse_args()
    text = f"{arguments.repetitions} simulated comparisons a cell.\n\n{table(arguments.repetitions)}"
    if arguments.print:
        print(text)
    else:
        write_table(DOCUMENT, BEGIN, END, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())

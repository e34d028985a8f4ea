"""How often does `compare` err, and what does it find? Simulates designs, writes docs/STATISTICS.md's table.

Run by `make power-table`. Runs are drawn as independent passes and failures, each task with its own chance.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from harness import statistics
from harness.compare.verdicts import SUITE_ALPHA, UnitComparison, UnitKey, Verdict, decide, decide_without

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "STATISTICS.md"
BEGIN, END = "<!-- power table: begin -->", "<!-- power table: end -->"
SEED = 7


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
        if broken:
            decision = decide(units)
            verdict = decision.verdict
            regressed = {unit.key.task_id for unit in decision.having(Verdict.REGRESSION)}
            named += all(str(i) in regressed for i in range(broken))
        else:
            verdict, _ = decide_without(units, (), threshold=0.0)  # the same verdict, sooner
        if verdict in found:
            found[verdict] += 1
    return Rates(found[Verdict.REGRESSION] / repetitions, found[Verdict.IMPROVEMENT] / repetitions, named / repetitions)


def _unit(number: int, passed_a: int, passed_b: int, runs: int) -> UnitComparison:
    return UnitComparison.model_construct(
        key=UnitKey(str(number)),
        scores_a=(0.0,) * runs,
        scores_b=(0.0,) * runs,
        passed_a=passed_a,
        passed_b=passed_b,
        difference=(passed_b - passed_a) / runs,
        p=statistics.fisher_test(passed_a, runs, passed_b, runs),
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
)


def table(repetitions: int) -> str:
    """The Markdown table; every line one design of tasks x runs an arm, all at a pass rate of 80 %."""
    lines = ["| " + " | ".join(HEADERS) + " |", "|---" * len(HEADERS) + "|"]
    for tasks, runs in DESIGNS:

        def made(change: float, tasks: int = tasks, runs: int = runs, **options: bool | int) -> Rates:
            return simulate(
                tasks=tasks,
                runs=runs,
                baseline=0.8,
                change=change,
                repetitions=repetitions,
                broken=int(options.get("broken", 0)),
                spread=bool(options.get("spread", False)),
            )

        unchanged = made(0.0)
        formula = statistics.paired_power(0.2, statistics.design_sd(0.8, -0.2, runs), tasks, SUITE_ALPHA)
        cells = [
            unchanged.regression,
            unchanged.improvement,
            made(-0.1).regression,
            made(-0.2).regression,
            formula,
            made(-0.2, spread=True).regression,
            made(0.0, broken=1).broken_named,
        ]
        lines.append(f"| {tasks} x {runs} | " + " | ".join(f"{100 * cell:.1f} %" for cell in cells) + " |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--check", action="store_true", help="compare with the document instead of writing it")
    arguments = parser.parse_args()
    text = DOCUMENT.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    made = f"{before}{BEGIN}\n{arguments.repetitions} simulated comparisons a cell.\n\n"
    made += f"{table(arguments.repetitions)}\n{END}{after}"
    if arguments.check:
        print("the table is current" if made == text else f"{DOCUMENT}: run `make power-table`")
        return int(made != text)
    DOCUMENT.write_text(made, encoding="utf-8")
    print(f"wrote {DOCUMENT}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

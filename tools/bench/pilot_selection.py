"""The rate at which an unchanged agent is called better or worse after a selection by a pilot.

Run by `make pilot-selection`, which writes the table in docs/TASK_SELECTION_CRITERIA.md. Tasks are drawn, run once in a
pilot, selected by select_tasks.py's own rule, and run again; both arms are the same agent, decided by `compare`. The
pilot's runs are in arm A: once known as such, so that `compare` leaves them out, and once not.
"""

from __future__ import annotations

import argparse
import math
import os
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from harness.models import EvalResult
from locobench.dataset.scenario import Derived
from locobench.selection.balance import choose
from locobench.selection.candidates import Candidate, Pilot
from measure.compare.comparison import compare
from measure.compare.verdicts import Verdict
from tests.support.results import run
from tools.bench.power_table import write_table

DOCUMENT = Path("docs/TASK_SELECTION_CRITERIA.md")
BEGIN, END = "<!-- pilot table: begin -->", "<!-- pilot table: end -->"
REPETITIONS = 500
CANDIDATES, SELECTED, RUNS = 150, 50, 3
FRESH = 1_000_000
"""The first seed of the table; the rules were made looking at smaller ones alone."""
BAR = 0.05
"""The largest share of false calls."""


# What the choice looks at; without it the order of the list would decide, not the lot.
_QUESTION = Derived.model_construct(kind="k", control_group=False)


@dataclass(frozen=True)
class Tasks:
    """How the tasks of a dataset are drawn."""

    perfect: tuple[float, float]
    """Parameters of the beta distribution of a task's chance of a perfect answer."""
    passes: bool = False
    """Whether other answers earn 0, or a score between."""


DATASETS = {
    "near the ceiling, scores": Tasks((6.0, 1.0)),
    "mixed, scores": Tasks((1.0, 1.0)),
    "near the ceiling, passes": Tasks((6.0, 1.0), passes=True),
    "mixed, passes": Tasks((1.0, 1.0), passes=True),
}


def draw(tasks: Tasks, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the rewards of the pilot (tasks x 1), of A and of B (tasks x RUNS): one agent in all."""
    rng = np.random.default_rng(seed)
    perfect = rng.beta(*tasks.perfect, CANDIDATES)[:, None]
    level = rng.beta(4.0, 2.0, CANDIDATES)[:, None]

    def rewards(runs: int) -> np.ndarray:
        right = rng.random((CANDIDATES, runs)) < perfect
        partial_ = 0.0 if tasks.passes else rng.beta(8 * level, 8 * (1 - level), (CANDIDATES, runs))
        return np.where(right, 1.0, partial_)

    return rewards(1), rewards(RUNS), rewards(RUNS)


def results(rewards: np.ndarray, arm: str, pilot: Sequence[str] = ()) -> list[EvalResult]:
    """Return rewards as results; row n is task n, and `pilot` has the run that each was selected by."""
    return [
        _BASE.model_copy(
            update={
                "task_id": f"t{task:03}",
                "run_id": f"{arm}-{task}-{index}",
                "run_index": index,
                "overall_score": float(reward),
                "passed": reward >= 1,
                "pilot_runs": (pilot[task],) if pilot else (),
            }
        )
        for (task, index), reward in np.ndenumerate(rewards)
    ]


_BASE = run("t", "c")


def verdicts(tasks: Tasks, seed: int) -> tuple[Verdict, Verdict]:
    """Return the verdict on B with the pilot's runs left out, and with them in A."""
    pilot, a, b = draw(tasks, seed)
    candidates = [
        Candidate(str(n), "c", "unknown", "python", 1, 1, derived=_QUESTION, pilot=Pilot(float(mean), (f"p-{n}-0",)))
        for n, mean in enumerate(pilot[:, 0])
    ]
    chosen = [int(task.id) for task in choose(candidates, SELECTED)[0]]
    first, ids = results(pilot[chosen], "p"), [f"p-{n}-0" for n in range(len(chosen))]
    left_out = compare([*first, *results(a[chosen], "a", ids)], results(b[chosen], "b", ids))
    # The same money: the pilot's run stands for one of A's.
    counted = compare([*first, *results(a[chosen][:, 1:], "a")], results(b[chosen], "b"))
    return left_out.verdict, counted.verdict


def of_unlike_arms(hard: float, seed: int) -> tuple[Verdict, Verdict]:
    """Return the verdict on B after a pilot of A alone, and after one of each arm.

    Over all tasks the arms are equal: each has trouble with a share `hard` of them, 80 % of these with the same ones.
    """
    rng = np.random.default_rng(seed)
    count = round(hard * CANDIDATES)
    order, same = rng.permutation(CANDIDATES), round(0.8 * count)
    troubles = [order[:count], np.concatenate([order[:same], order[count : 2 * count - same]])]
    pilots, later = [], []
    for trouble in troubles:
        rewards = np.ones((CANDIDATES, 1 + RUNS))
        rewards[trouble] = rng.beta(5, 3, (count, 1 + RUNS))
        pilots.append(rewards[:, 0])
        later.append(rewards[:, 1:])
    found = []
    for means in (pilots[0], (pilots[0] + pilots[1]) / 2):
        candidates = [
            Candidate(str(n), "c", "unknown", "python", 1, 1, derived=_QUESTION, pilot=Pilot(float(mean), ()))
            for n, mean in enumerate(means)
        ]
        chosen = [int(task.id) for task in choose(candidates, SELECTED)[0]]
        a, b = (results(rewards[chosen], arm) for rewards, arm in zip(later, "ab", strict=True))
        found.append(compare(a, b).verdict)
    return found[0], found[1]


def table(repetitions: int) -> tuple[str, list[str]]:
    """Return the table, and the rows that miss the bar."""
    lines = [
        f"{repetitions:,} simulated comparisons a row: {SELECTED} of {CANDIDATES} tasks, {RUNS} runs in each arm.\n"
        f"A simulated 5 % is uncertain by {200 * math.sqrt(BAR * (1 - BAR) / repetitions):.1f} points.",
        "",
        "| tasks | the pilot's runs left out: better | worse | counted in A: better | worse |",
        "|---|---:|---:|---:|---:|",
    ]
    missed = []
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for name, tasks in DATASETS.items():
            pairs = list(pool.map(partial(verdicts, tasks), range(FRESH, FRESH + repetitions), chunksize=10))
            cells = []
            for which in zip(*pairs, strict=True):
                counts = Counter(which)
                cells.append([counts[Verdict.IMPROVEMENT] / repetitions, counts[Verdict.REGRESSION] / repetitions])
            if sum(cells[0]) > BAR + 2 * math.sqrt(BAR * (1 - BAR) / repetitions):
                missed.append(f"{name}: {100 * sum(cells[0]):.1f} % of unchanged agents are called")
            shares = " | ".join(f"{100 * share:.1f} %" for pair in cells for share in pair)
            lines.append(f"| {name} | {shares} |")
            print(lines[-1], flush=True)
        lines += [
            "",
            "Two agents that are equal over all tasks, and have trouble with a share of them, 80 % of these the same:",
            "",
            "| trouble with | a pilot of A alone: better | worse | of each arm: better | worse |",
            "|---|---:|---:|---:|---:|",
        ]
        for hard in (0.1, 0.3):
            pairs = list(pool.map(partial(of_unlike_arms, hard), range(FRESH, FRESH + repetitions), chunksize=10))
            both = [Counter(which) for which in zip(*pairs, strict=True)]
            calls = (one[v] / repetitions for one in both for v in (Verdict.IMPROVEMENT, Verdict.REGRESSION))
            lines.append(f"| {hard:.0%} of the tasks | {' | '.join(f'{100 * share:.1f} %' for share in calls)} |")
            print(lines[-1], flush=True)
    return "\n".join(lines) + "\n", missed


def main() -> int:
    """Write the table; the exit code is 1 if a row misses the bar."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    text, missed = table(parser.parse_args().repetitions)
    write_table(DOCUMENT, BEGIN, END, text)
    for line in missed:
        print(line)
    return bool(missed)


if __name__ == "__main__":
    raise SystemExit(main())

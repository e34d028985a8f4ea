"""Rates of wrong verdicts and of effects found, simulated: writes docs/STATISTICS.md's tables of verdicts.

Run by `make power-table`. Every experiment is two or more made arms of results, decided as
`compare_arms` does. Beside each stands what scipy's paired t test says of the same draws.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from statistics import fmean

import numpy as np
from scipy import stats

from harness.models import EvalResult, Outcome, TokenUsage
from measure.compare.comparison import Pair, compare_arms, levels_of
from measure.compare.decision import MARGIN, Question
from measure.compare.verdicts import ArmsComparison, Decision, Measure, Slice, Verdict
from measure.statistics.estimates import ALPHA
from measure.summary.metrics import resolve_metric
from tests.support.results import run
from tools.bench.power_table import DOCUMENT, write_table

BEGIN, END = "<!-- verdict table: begin -->", "<!-- verdict table: end -->"
FRESH = 9_300_000
"""Seeds from here on are those of the table; the rules were made looking at smaller ones alone."""
REPETITIONS = 400
RUN_SD = 0.2
PASS_MARK = 0.5
FALSE_CALLS = 0.05
SKEW = 1.27
"""Concentration of skewed scores: most runs score near 0, some near 1."""
RUN_COST_SD, TASK_COST_SD = 0.4, 0.2
"""Standard deviations of the logarithms of a run's cost within its task, and of the tasks' ratios."""


@dataclass(frozen=True)
class Experiment:
    """What a row's arms are made like."""

    tasks: int = 50
    runs: int = 3
    change: float = 0.0
    """Of B's mean."""
    passes: float | None = None
    """Mean pass rate; None for scores, whose runs vary by RUN_SD."""
    alike: bool = False
    """Whether all tasks have the same pass rate."""
    skewed: bool = False
    level: float | None = None
    """Mean that scores vary around before they are cut at 1; by default, each task has its own."""
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
    broken_share: float = 0.0
    """Chance of each task to score 0 in B."""
    repositories: int | None = None
    """Number of groups that mean nothing."""
    cost_ratio: float = 1.0
    """What B costs in dollars and tokens, as a multiple of A; time, turns and calls are the same."""
    costs: bool = False
    """Whether the costs are looked at."""
    cost_sd: float = RUN_COST_SD
    arms: int = 2
    fixed_tasks: bool = False


def made(experiment: Experiment, seed: int) -> ArmsComparison:
    """One experiment: all arms, drawn and compared."""
    return compare_arms(labelled(arms_of(experiment, seed)), fixed_tasks=experiment.fixed_tasks)


def labelled(arms: Sequence[list[EvalResult]]) -> list[tuple[str, list[EvalResult]]]:
    return [("abcdef"[at], arm) for at, arm in enumerate(arms)]


def arms_of(experiment: Experiment, seed: int) -> list[list[EvalResult]]:
    """Draw the arms: the first without the change, the others with it."""
    rng = random.Random(seed)
    chances = [_level(experiment, rng) for _ in range(experiment.tasks)]
    count = experiment.projects or experiment.tasks
    effects = [rng.gauss(0, experiment.project_sd) + experiment.change for _ in range(count)]
    breaks = [rng.random() < experiment.broken_share for _ in range(experiment.tasks)]
    prices = [rng.gauss(0, 1.0) for _ in range(experiment.tasks)]
    ratios = [rng.gauss(math.log(experiment.cost_ratio), TASK_COST_SD) for _ in range(experiment.tasks)]
    arms = []
    for arm in range(experiment.arms):
        results = []
        for task, level in enumerate(chances):
            mean = level + effects[task % count] * bool(arm)
            broken = task < experiment.broken if arm == 0 else breaks[task]
            for index in range(experiment.runs):
                cost = 0.01
                if experiment.costs:
                    cost = math.exp(prices[task] + ratios[task] * bool(arm) + rng.gauss(0, experiment.cost_sd)) / 10
                results.append(_run(experiment, rng, task, index, 0.0 if broken else mean, arm, cost))
        arms.append(results)
    return arms


def _level(experiment: Experiment, rng: random.Random) -> float:
    """A task's own mean: tasks differ widely, as those of a benchmark do, unless they are alike."""
    if experiment.skewed:
        return rng.uniform(0.2, 0.5)
    if experiment.passes is None:
        return rng.uniform(0.25, 0.75) if experiment.level is None else experiment.level
    if experiment.alike:
        return experiment.passes
    return rng.betavariate(4 * experiment.passes, 4 * (1 - experiment.passes))


_BASE = run("t", "c")


def _run(
    experiment: Experiment, rng: random.Random, task: int, index: int, mean: float, arm: int, cost: float
) -> EvalResult:
    if experiment.skewed:
        score = round(rng.betavariate(SKEW * mean, SKEW * (1 - mean)), 3)
    elif experiment.passes is None:
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
    share = experiment.lost[min(arm, 1)]
    lost = rng.random() < share and (not experiment.failing_only or score < PASS_MARK)
    outcome = Outcome.INFRA_ERROR if lost else Outcome.TIMEOUT if ended else Outcome.COMPLETED
    score = score if outcome is Outcome.COMPLETED else 0.0
    trace = _BASE.trace
    if experiment.costs:
        trace = trace.model_copy(
            update={
                "usage": TokenUsage(input_tokens=round(1e6 * cost)),
                "duration_seconds": 60 * math.exp(rng.gauss(0, RUN_COST_SD)),
                "num_turns": rng.randint(3, 30),
            }
        )
    return _like_base(
        task_id=f"t{task:03}",
        config_name="abcdef"[arm],
        run_index=index,
        overall_score=score,
        passed=score == 1,
        groups=groups,
        outcome=outcome,
        grades=_BASE.grades if outcome is Outcome.COMPLETED else [],
        cost_usd=cost,
        trace=trace,
    )


def _like_base(**fields: object) -> EvalResult:
    """A copy of _BASE with other fields; pydantic's own copies would take a fifth of a simulation's time."""
    copied = object.__new__(EvalResult)
    object.__setattr__(copied, "__dict__", _BASE.__dict__ | fields)
    for name in ("__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__"):
        object.__setattr__(copied, name, getattr(_BASE, name))
    return copied


@dataclass(frozen=True)
class Drawn:
    """The results of one simulated experiment."""

    verdicts: tuple[Verdict, ...]
    """Of every pair of arms; the first is B against A."""
    difference: float
    interval: tuple[float, float] | None
    group_called: bool
    """The interval of any group excludes 0."""
    cheaper: bool
    costs_called: bool
    """Any quantity is called."""
    differences: tuple[float, ...]
    """Of the tasks' mean scores, lost runs left out, worked out without the code under test."""
    logs: tuple[float, ...]
    """Logarithms of the tasks' ratios of dollars, likewise."""

    @property
    def verdict(self) -> Verdict:
        """B against A."""
        return self.verdicts[0]

    @property
    def t_called(self) -> int:
        """1 or -1: by scipy's paired t test over tasks."""
        if not np.ptp(self.differences):
            return 0
        t = stats.ttest_1samp(self.differences, 0.0)
        return int(np.sign(t.statistic)) if t.pvalue <= FALSE_CALLS else 0

    @property
    def t_as_good(self) -> bool:
        """By two one-sided t tests of scipy's."""
        if not np.ptp(self.differences):
            return abs(self.differences[0]) < MARGIN
        lower = stats.ttest_1samp(self.differences, -MARGIN, alternative="greater").pvalue
        upper = stats.ttest_1samp(self.differences, MARGIN, alternative="less").pvalue
        return bool(max(lower, upper) <= FALSE_CALLS)

    @property
    def t_cheaper(self) -> bool:
        """By scipy's t test of the logarithms, at a fifth of the level (Bonferroni)."""
        return bool(np.mean(self.logs) < 0 and stats.ttest_1samp(self.logs, 0.0).pvalue <= FALSE_CALLS / 5)


def told(experiment: Experiment, seed: int) -> Drawn:
    """Draw one experiment and look at it."""
    arms = arms_of(experiment, seed)
    costs: tuple[Measure, ...] = ()
    groups: tuple[Slice, ...] = ()
    if experiment.costs or experiment.repositories:
        whole = compare_arms(labelled(arms)).comparisons[0]
        costs, groups, decisions = whole.costs, whole.slices, [whole.decision]
    else:
        decisions = decisions_of(experiment, arms)
    first, interval = decisions[0], decisions[0].interval
    cost = next((cost for cost in costs if cost.name == "cost"), None)
    scores, dollars = (_by_hand(arms[0], arms[1], name) for name in ("overall_score", "cost_usd"))
    return Drawn(
        verdicts=tuple(decision.verdict for decision in decisions),
        difference=first.difference,
        interval=(interval.low, interval.high) if interval else None,
        group_called=any(part.changed for part in groups),
        cheaper=bool(cost and cost.changed and cost.difference < 0),
        costs_called=any(cost.changed for cost in costs),
        differences=tuple(y - x for x, y in scores),
        logs=tuple(math.log(y / x) for x, y in dollars) if experiment.costs else (),
    )


def decisions_of(experiment: Experiment, arms: Sequence[list[EvalResult]]) -> list[Decision]:
    """Decide on every pair of arms as `compare_arms` does, without what a page shows besides."""
    metric = resolve_metric("auto", [result for arm in arms for result in arm])
    question = Question(fixed_tasks=experiment.fixed_tasks)
    pairs = [Pair(two, metric, question) for two in combinations(labelled(arms), 2)]
    pairs.sort(key=lambda pair: pair.labelled[0][0] != "a")
    levels = levels_of(pairs)[1] if len(pairs) > 1 else [ALPHA]
    return [pair.decide(level, alone=False) for pair, level in zip(pairs, levels, strict=True)]


def _by_hand(a: Sequence[EvalResult], b: Sequence[EvalResult], name: str) -> list[tuple[float, float]]:
    """Each task's means of a field in both arms, lost runs left out."""
    tasks: dict[str, tuple[list[float], list[float]]] = {}
    for at, arm in enumerate((a, b)):
        for result in arm:
            if result.outcome is not Outcome.INFRA_ERROR:
                tasks.setdefault(result.task_id, ([], []))[at].append(getattr(result, name))
    return [(fmean(of_a), fmean(of_b)) for of_a, of_b in tasks.values() if of_a and of_b]


PASSES = Experiment(passes=0.67)
SKEWED = Experiment(skewed=True)
SCORES = Experiment()
KINDS = {"passes": PASSES, "skewed scores": SKEWED, "scores": SCORES}
CEILING = Experiment(passes=0.97, alike=True)

UNCHANGED: dict[str, Experiment] = {
    **{f"whole data, {kind}": made_like for kind, made_like in KINDS.items()},
    **{f"5 % of both arms lost at random, {kind}": replace(like, lost=(0.05, 0.05)) for kind, like in KINDS.items()},
    "10 % of both arms lost at random": replace(PASSES, lost=(0.1, 0.1)),
    "10 % of B lost at random": replace(PASSES, lost=(0.0, 0.1)),
    "10 % of B's failing runs lost": replace(PASSES, lost=(0.0, 0.1), failing_only=True),
    "20 % of B's failing runs lost": replace(PASSES, lost=(0.0, 0.2), failing_only=True),
    "40 % of B's failing runs lost": replace(PASSES, lost=(0.0, 0.4), failing_only=True),
    "all of B's failing runs lost": replace(PASSES, lost=(0.0, 1.0), failing_only=True),
    "40 % of both arms' failing runs lost": replace(PASSES, lost=(0.4, 0.4), failing_only=True),
    "15 % of both arms timed out, as 0": Experiment(timeouts=0.15),
    "12 repositories, effects differ by 10 points": Experiment(projects=12, project_sd=0.1),
    "25 repositories, effects differ by 10 points": Experiment(projects=25, project_sd=0.1),
    "one repository, passes": replace(PASSES, projects=1),
    "3 repositories, scores": Experiment(projects=3),
    "200 x 1, 46 groups": Experiment(tasks=200, runs=1, repositories=46),
    "three tools and a baseline, any pair": replace(PASSES, arms=4),
    "5 x 1": Experiment(tasks=5, runs=1),
    "10 x 1": Experiment(tasks=10, runs=1),
    "ceiling, passes at 97 %": CEILING,
    "8 x 3, passes, `--regression`": Experiment(tasks=8, passes=0.8, fixed_tasks=True),
}  # fmt: skip
"""Nothing changed: every verdict of better or worse is false."""

CHANGED: dict[str, tuple[Experiment, float]] = {
    **{
        f"+10 points, {kind}": (replace(made_like, change=0.1), bar)
        for (kind, made_like), bar in zip(KINDS.items(), (0.46, 0.74, 0.98), strict=True)
    },
    **{
        f"+10 points, 5 % of both arms lost, {kind}": (replace(made_like, change=0.1, lost=(0.05, 0.05)), bar)
        for (kind, made_like), bar in zip(KINDS.items(), (0.35, 0.60, 0.90), strict=True)
    },
    "+10 points, scores, 25 repositories, effects differ by 10 points": (
        Experiment(change=0.1, projects=25, project_sd=0.1),
        0.0,
    ),
    "+20 points, passes, one repository": (replace(PASSES, change=0.2, projects=1), 0.0),
    "+10 points, scores, three tools": (Experiment(change=0.1, arms=4), 0.0),
}
"""B is better; with the least share in which that is to be found."""

EQUAL: dict[str, tuple[Experiment, float]] = {
    "nothing differs, passes at 97 %": (CEILING, 0.50),
    "nothing differs, passes at 97 %, 100 x 3": (replace(CEILING, tasks=100), 0.85),
    "nothing differs, scores at 97 %": (Experiment(level=1.1), 0.90),
}
"""Nothing differs; with the least share in which B is to be called as good."""

APART: dict[str, Experiment] = {
    "5 points apart, passes, 97 to 92 %": replace(CEILING, change=-MARGIN),
    "5 points apart, passes, 97 to 92 %, 100 x 3": replace(CEILING, tasks=100, change=-MARGIN),
    "5 points apart, passes, 87 to 92 %, 200 x 3": Experiment(passes=0.87, alike=True, tasks=200, change=MARGIN),
    "5 points apart, scores": Experiment(change=-MARGIN, level=0.6, tasks=200),
    "5 points apart, 5 % of both arms lost, 100 x 3": replace(CEILING, tasks=100, change=-MARGIN, lost=(0.05, 0.05)),
    "one task in 20 broken, 20 x 3": replace(CEILING, tasks=20, broken_share=MARGIN / 0.97),
    "one task in 20 broken": replace(CEILING, broken_share=MARGIN / 0.97),
    "one task in 20 broken, 100 x 3": replace(CEILING, tasks=100, broken_share=MARGIN / 0.97),
    "one task in 20 broken, all others solved, 100 x 3": Experiment(
        passes=1.0, alike=True, tasks=100, broken_share=MARGIN
    ),
}
"""B differs by exactly the margin: every verdict of as good is false."""

COSTS: dict[str, Experiment] = {
    "costs unchanged": replace(PASSES, costs=True),
    "costs unchanged, 12 repositories": replace(PASSES, costs=True, projects=12),
    "dollars and tokens 20 % less": replace(PASSES, costs=True, cost_ratio=0.8),
    "the same, runs of a task vary by 60 %": replace(PASSES, costs=True, cost_ratio=0.8, cost_sd=0.6),
}


BARRED = {"dollars and tokens 20 % less"}


def share(values: Sequence[bool]) -> float:
    return fmean(values)


def error(rate: float, repetitions: int) -> float:
    """Two standard errors of a simulated share."""
    return 2 * math.sqrt(max(rate * (1 - rate), 1 / repetitions) / repetitions)


class Tables:
    """All tables, from one pool of processes."""

    def __init__(self, pool: ProcessPoolExecutor, seeds: Sequence[int]) -> None:
        self.pool, self.seeds, self.missed = pool, seeds, list[str]()

    def draw(self, experiments: Mapping[str, Experiment]) -> dict[str, list[Drawn]]:
        drawn = {
            name: self.pool.map(partial(told, experiment), self.seeds, chunksize=10)
            for name, experiment in experiments.items()
        }
        return {name: list(found) for name, found in drawn.items()}

    def check(self, name: str, value: float, *, least: float = 0.0, most: float = 1.0) -> str:
        """Format a share with its bar; a bar missed by more than the simulation's error is remembered."""
        slack = error(value, len(self.seeds))
        if value < least - slack or value > most + slack:
            self.missed.append(f"{name}: {_percent(value)}")
        return f"{_percent(value)} (at {'least' if least else 'most'} {100 * (least or most):.0f} %)"

    def unchanged(self) -> str:
        lines = _head("nothing changed", "better or worse", "paired t", "as good", "not enough data", "mean difference",
                      "interval holds 0", "any group called")  # fmt: skip
        for name, found in self.draw(UNCHANGED).items():
            called = share([any(verdict.decided for verdict in one.verdicts) for one in found])
            covered = [one.interval[0] <= 0 <= one.interval[1] for one in found if one.interval]
            cells = [
                self.check(name, called, most=FALSE_CALLS),
                _percent(share([bool(one.t_called) for one in found])),
                _percent(share([one.verdict is Verdict.AS_GOOD for one in found])),
                _percent(share([one.verdict is Verdict.NOT_ENOUGH_DATA for one in found])),
                f"{100 * fmean(one.difference for one in found):+.1f}",
                _percent(share(covered)) if covered else "",
                _percent(share([one.group_called for one in found])) if UNCHANGED[name].repositories else "",
            ]
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
        return "\n".join(lines)

    def found(self) -> str:
        lines = _head("B is better", "found", "paired t", "called worse", "interval holds it")
        for name, found in self.draw({name: experiment for name, (experiment, _) in CHANGED.items()}).items():
            experiment, bar = CHANGED[name]
            rate = share([one.verdict is Verdict.IMPROVEMENT for one in found])
            covered = [one.interval[0] <= experiment.change <= one.interval[1] for one in found if one.interval]
            cells = [
                self.check(name, rate, least=bar) if bar else _percent(rate),
                _percent(share([one.t_called > 0 for one in found])),
                _percent(share([one.verdict is Verdict.REGRESSION for one in found])),
                _percent(share(covered)),
            ]
            if "lost" not in name and "repositor" not in name and "tools" not in name:
                self.check(f"{name}, against t", rate, least=share([one.t_called > 0 for one in found]) - 0.05)
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
        return "\n".join(lines)

    def as_good(self) -> str:
        lines = _head("as good within 5 points", "called as good", "two one-sided t tests", "better or worse")
        experiments = {name: experiment for name, (experiment, _) in EQUAL.items()} | APART
        for name, found in self.draw(experiments).items():
            rate = share([one.verdict is Verdict.AS_GOOD for one in found])
            bar = {"least": EQUAL[name][1]} if name in EQUAL else {"most": FALSE_CALLS}
            cells = [
                self.check(name, rate, **bar),
                _percent(share([one.t_as_good for one in found])),
                _percent(share([one.verdict.decided for one in found])),
            ]
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
        return "\n".join(lines)

    def costs(self) -> str:
        lines = _head("costs, passes", "fewer dollars called", "t of the logarithms", "any of five quantities called")
        for name, found in self.draw(COSTS).items():
            cheaper = share([one.cheaper for one in found])
            called = share([one.costs_called for one in found])
            is_changed = COSTS[name].cost_ratio != 1
            cells = [
                self.check(name, cheaper, least=0.8) if name in BARRED else _percent(cheaper),
                _percent(share([one.t_cheaper for one in found])),
                _percent(called) if is_changed else self.check(name, called, most=FALSE_CALLS),
            ]
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
        return "\n".join(lines)

    def as_printed(self) -> str:
        """Is what a page prints found as often as it says? The effect is the mean of those printed."""
        lines = _head("a page says that this is found in 80 % of cases", "found")
        named = {
            **KINDS,
            "passes at 97 %": CEILING,
            "20 x 3, passes": replace(PASSES, tasks=20),
            "passes, 5 % of both arms lost": replace(PASSES, lost=(0.05, 0.05)),
            "three tools, scores": replace(SCORES, arms=4),
        }
        for name, experiment in named.items():
            rooms = [made(experiment, seed).comparisons[0].headroom for seed in self.seeds[:20]]
            falls = [room.finds_fall for room in rooms if room and room.finds_fall]
            fall = fmean(falls)
            drawn = self.draw({name: replace(experiment, change=-fall)})[name]
            rate = share([one.verdict is Verdict.REGRESSION for one in drawn])
            lines.append(f"| a fall of {100 * fall:.1f} points, {name} | {_percent(rate)} |")
        return "\n".join(lines)


def _head(*names: str) -> list[str]:
    return ["| " + " | ".join(names) + " |", "|---" + "|---:" * (len(names) - 1) + "|"]


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    parser.add_argument("--print", action="store_true", help="print the tables instead of writing them")
    parser.add_argument("--first-seed", type=int, default=FRESH, help="rules are made by seeds from 0 on alone")
    arguments = parser.parse_args()
    first = arguments.first_seed
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        tables = Tables(pool, range(first, first + arguments.repetitions))
        parts = [tables.unchanged(), tables.found(), tables.as_good(), tables.costs(), tables.as_printed()]
    uncertain = 100 * error(FALSE_CALLS, arguments.repetitions)
    about = (
        f"{arguments.repetitions} simulated comparisons of 50 x 3 a row, unless said; a share of 5 % is uncertain by "
        f"{uncertain:.1f} points (two standard errors)."
    )
    text = "\n\n".join([about, *parts])
    if arguments.print:
        print(text)
    else:
        write_table(DOCUMENT, BEGIN, END, text)
    for missed in tables.missed:
        print(f"missed: {missed}", file=sys.stderr)
    return int(bool(tables.missed))


if __name__ == "__main__":
    sys.exit(main())

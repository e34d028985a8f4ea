"""What did each arm need? Tokens, dollars, seconds, turns and tool calls, B's as a multiple of A's."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from statistics import fmean

from measure.compare.decision import clusters_of
from measure.compare.findings import CostRatio
from measure.compare.pairing import Runs
from measure.compare.verdicts import UnitComparison
from measure.records import EvalResult
from measure.statistics.estimates import Interval
from measure.statistics.significance import holm, holm_levels, sign_flip_test


def price(run: EvalResult) -> float | None:
    """Return a run's dollars; None where they are not recorded, and where 0 stands beside tokens: no price is known."""
    return None if run.tokens and not run.cost_usd else run.cost_usd


QUANTITIES: dict[str, tuple[str, Callable[[EvalResult], float | None]]] = {
    "tokens": ("tokens a run, cache included", lambda run: run.tokens),
    "cost": ("US$ a run", price),
    "time": ("seconds a run", lambda run: run.trace.duration_seconds),
    "turns": ("turns a run", lambda run: run.trace.num_turns),
    "calls": ("tool calls a run", lambda run: run.trace.tool_count),
}
"""What a run needs, with its unit and a run's value; runs without a value are left out."""


def find_costs(units: Sequence[UnitComparison], a: Runs, b: Runs, alpha: float) -> tuple[CostRatio, ...]:
    """Return the ratio of each quantity that tasks have in both arms.

    The ratio is the geometric mean over tasks of B's mean divided by A's. Its logarithm is tested as the metric is, by
    flipping the signs of tasks or repositories.

    Args:
        units: the tasks that both arms measured.
        a: measured runs of A.
        b: measured runs of B.
        alpha: chance that any quantity is called when nothing changed, 0 to 1; Holm's procedure divides it among them.
    """
    found = [_of_quantity(name, units, a, b) for name in QUANTITIES]
    known = [(cost, sample) for cost, sample in found if cost.tasks + cost.zeros]
    ps = [sign_flip_test(*sample).p.two_sided for _, sample in known]
    judged = zip(known, ps, holm(ps), holm_levels(ps, alpha), strict=True)
    return tuple(
        cost.model_copy(update={"interval": _ratios(*sample, level), "p": p, "adjusted_p": adjusted})
        for (cost, sample), p, adjusted, level in judged
    )


Sample = tuple[list[float], list[str]]
"""The logarithm of each task's ratio, and the task's cluster."""


def _of_quantity(name: str, units: Sequence[UnitComparison], a: Runs, b: Runs) -> tuple[CostRatio, Sample]:
    unit_of_value, value = QUANTITIES[name]
    means = task_means(units, a, b, value)
    logs = {task: math.log(y / x) for task, (x, y) in means.items() if x > 0 and y > 0}
    clusters = clusters_of(units)
    cost = CostRatio(
        name=name,
        unit=unit_of_value,
        tasks=len(logs),
        zeros=len(means) - len(logs),
        mean_a=fmean(x for x, _ in means.values()) if means else 0.0,
        mean_b=fmean(y for _, y in means.values()) if means else 0.0,
        ratio=math.exp(fmean(logs.values())) if logs else None,
        interval=None,
    )
    return cost, (list(logs.values()), [clusters[task] for task in logs])


def task_means(
    units: Sequence[UnitComparison], a: Runs, b: Runs, value: Callable[[EvalResult], float | None]
) -> dict[str, tuple[float, float]]:
    """Return the means of A and B for each task of which both have a run with a known value."""
    pairs: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for unit in units:
        known_a, known_b = ([v for run in runs[unit.key] if (v := value(run)) is not None] for runs in (a, b))
        if known_a and known_b:
            pairs[unit.key.task_id].append((fmean(known_a), fmean(known_b)))
    return {task: (fmean(x for x, _ in of_task), fmean(y for _, y in of_task)) for task, of_task in pairs.items()}


def _ratios(logs: Sequence[float], clusters: Sequence[str], alpha: float) -> Interval | None:
    interval = sign_flip_test(logs, clusters, 1 - alpha).interval
    return interval and Interval(math.exp(interval.low), math.exp(interval.high))


def unpriced(label: str, runs: Sequence[EvalResult]) -> Iterator[str]:
    """Yield a sentence if runs of an arm lack a price although their tokens are recorded."""
    known = [run for run in runs if run.measured and run.tokens]
    without = sum(price(run) is None for run in known)
    if without:
        yield (
            f"{label}: no price is recorded for {without} of the {len(known)} runs with tokens (nothing, or $0); they "
            "count in no cost: compare the tokens."
        )

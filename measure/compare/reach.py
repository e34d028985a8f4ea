"""How did each arm reach the files that the answers name? Calls until the first, shares found, bytes read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

from measure.compare.costs import task_means
from measure.compare.decision import clusters_of
from measure.compare.findings import ReachDifference
from measure.compare.pairing import Runs
from measure.compare.verdicts import UnitComparison
from measure.records import EvalResult, Reach
from measure.statistics.significance import holm, holm_levels, sign_flip_test

MEASURES: dict[str, tuple[str, Callable[[Reach], float | None]]] = {
    "calls to the first file": ("tool calls until a file of the key was seen", lambda reach: reach.calls_to_first),
    "files found": ("share of the key's files that were seen", lambda reach: reach.recall),
    "files on target": ("share of the files seen that are the key's", lambda reach: reach.precision),
    "bytes read": ("bytes that tools returned", lambda reach: reach.bytes_read),
}
"""What is compared, with its unit and a run's value; runs without a value are left out."""


def find_reach(units: Sequence[UnitComparison], a: Runs, b: Runs, alpha: float) -> tuple[ReachDifference, ...]:
    """Return the difference of each measure over the tasks that have it in both arms.

    Args:
        units: the tasks that both arms measured.
        a: measured runs of A.
        b: measured runs of B.
        alpha: chance that any measure is called when nothing changed, 0 to 1; Holm's procedure divides it among them.
    """
    clusters = clusters_of(units)
    found = {name: task_means(units, a, b, _of_run(value)) for name, (_, value) in MEASURES.items()}
    known = {name: means for name, means in found.items() if means}
    samples = {
        name: ([y - x for x, y in means.values()], [clusters[task] for task in means]) for name, means in known.items()
    }
    ps = [sign_flip_test(*sample).p.two_sided for sample in samples.values()]
    return tuple(
        ReachDifference(
            name=name,
            unit=MEASURES[name][0],
            tasks=len(known[name]),
            mean_a=fmean(x for x, _ in known[name].values()),
            mean_b=fmean(y for _, y in known[name].values()),
            difference=fmean(sample[0]),
            interval=sign_flip_test(*sample, 1 - level).interval,
            p=p,
            adjusted_p=adjusted,
        )
        for (name, sample), p, adjusted, level in zip(
            samples.items(), ps, holm(ps), holm_levels(ps, alpha), strict=True
        )
    )


def _of_run(value: Callable[[Reach], float | None]) -> Callable[[EvalResult], float | None]:
    return lambda run: value(run.trace.reach) if run.trace.reach else None

"""Did the control group move? Tasks that one grep nearly answers should score alike with and without a search tool."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

from harness import statistics
from harness.compare.verdicts import UnitComparison
from harness.compare.wording import p_text, points
from locobench.shared.derived import CONTROL_GROUP

MOVED_P = 0.05
"""Two-sided p-value, since a control group should move in neither direction."""


def control_group(units: Sequence[UnitComparison]) -> Iterator[str]:
    """Yield one sentence if the tasks have a control group, whether or not it moved.

    Args:
        units: the tasks that both arms measured.
    """
    tasks: dict[str, list[float]] = {}
    for unit in units:
        if unit.groups.get(CONTROL_GROUP) == "yes":
            tasks.setdefault(unit.key.task_id, []).append(unit.mean_b - unit.mean_a)
    if not tasks:
        return
    differences = [fmean(some) for some in tasks.values()]
    p = statistics.sign_flip_test(differences).p.two_sided
    told = f"{points(fmean(differences))} over {len(tasks)} {'task' if len(tasks) == 1 else 'tasks'} (p = {p_text(p)})"
    if p <= MOVED_P:
        yield (
            f"The control group moved: {told}. One grep nearly answers these tasks, so something else than the search"
            " differs between the arms; look for it before you trust the difference."
        )
    else:
        yield f"The control group, which one grep nearly answers, did not move: {told}."

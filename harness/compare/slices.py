"""Where does the difference come from? Groups of tasks and components of the score, each with its own difference."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

import numpy as np

from harness.compare.findings import Slice, TaskShares
from harness.compare.verdicts import UnitComparison, UnitKey
from harness.models import EvalResult
from harness.statistics import intervals, significance
from harness.statistics.intervals import TIE

QUARTILES_FROM = 8
"""A group with more distinct numbers than this is split into quartiles."""
COMPONENT = "component"

Runs = Mapping[UnitKey, Sequence[EvalResult]]
Pairs = dict[str, list[tuple[float, float]]]
"""Task to the means in A and in B, one pair for each config and model."""


def unit_groups(key: UnitKey, a: Sequence[EvalResult], b: Sequence[EvalResult]) -> dict[str, str]:
    """Return the groups of one task: those equal in both arms, and those of one arm as NAME_a or NAME_b.

    Args:
        key: what the runs were paired by; a config or model that is not part of it may differ between the arms.
        a: the task's runs in A, at least one.
        b: its runs in B, at least one.
    """
    arms = {"a": _own_groups(key, a, "a"), "b": _own_groups(key, b, "b")}
    groups: dict[str, str] = {"config": key.config, "model": key.model}
    for name in dict.fromkeys([*arms["a"], *arms["b"]]):
        values = {suffix: own[name] for suffix, own in arms.items() if name in own}
        if len(set(values.values())) == 1:
            groups[name] = next(iter(values.values()))
        else:
            groups |= {f"{name}_{suffix}": value for suffix, value in values.items()}
    return {name: value for name, value in groups.items() if value}


def _own_groups(key: UnitKey, runs: Sequence[EvalResult], arm: str) -> dict[str, str]:
    found: dict[str, list[str]] = defaultdict(list)
    for run in runs:
        own = {"category": run.category, "language": run.language, "difficulty": run.difficulty}
        own |= {} if key.config else {f"config_{arm}": run.config_name}
        own |= {} if key.model else {f"model_{arm}": run.model}
        for name, value in (own | run.groups).items():
            if value and value not in found[name]:
                found[name].append(value)
    return {name: " + ".join(sorted(values)) for name, values in found.items() if values}


def by_quartile(units: Sequence[UnitComparison]) -> list[UnitComparison]:
    """Replace every group of many numbers by its quartile, such as `Q1: 1,200 to 40,000`."""
    names: dict[str, dict[str, str]] = {}
    for name in {name for unit in units for name in unit.groups}:
        values = {unit.groups[name] for unit in units if name in unit.groups}
        if len(values) > QUARTILES_FROM and all(map(_is_number, values)):
            every = [float(unit.groups[name]) for unit in units if name in unit.groups]
            edges = np.quantile(every, (0.25, 0.5, 0.75))
            quarter = {value: int(np.searchsorted(edges, float(value))) for value in values}
            names[name] = {
                value: _quarter_name(q, [float(v) for v in values if quarter[v] == q]) for value, q in quarter.items()
            }
    if not names:
        return list(units)
    return [
        unit.model_copy(
            update={"groups": {name: names.get(name, {}).get(value, value) for name, value in unit.groups.items()}}
        )
        for unit in units
    ]


def _quarter_name(quarter: int, values: Sequence[float]) -> str:
    return f"Q{quarter + 1}: {min(values):,.10g} to {max(values):,.10g}"


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


def dimensions(units: Sequence[UnitComparison]) -> dict[str, list[str]]:
    """Return each dimension with two or more values, at least one of which has two tasks; its values are sorted."""
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for unit in units:
        for name, value in unit.groups.items():
            found[name][value].add(unit.key.task_id)
    return {
        name: sorted(values)
        for name, values in found.items()
        if len(values) >= 2 and max(map(len, values.values())) >= 2
    }


def task_shares(units: Sequence[UnitComparison]) -> TaskShares:
    """Count the tasks that were better, the same and worse in B, averaged over their configs and models."""
    differences = [fmean(b - a for a, b in pairs) for pairs in _pairs(units).values()]
    better, worse = sum(d > TIE for d in differences), sum(d < -TIE for d in differences)
    return TaskShares(better=better, same=len(differences) - better - worse, worse=worse)


def find_slices(units: Sequence[UnitComparison], runs_a: Runs, runs_b: Runs, confidence: float) -> tuple[Slice, ...]:
    """Return the difference in every group of every dimension, and in every component of the score.

    All p-values together are corrected by Holm's method, all intervals by Bonferroni's, since Holm's has no simple
    intervals.

    Args:
        units: the tasks that both arms measured, with all their groups.
        runs_a: measured runs of A; they cover at least these units.
        runs_b: likewise for B.
        confidence: level of all intervals together.
    """
    clusters = {unit.key.task_id: unit.cluster for unit in units}
    found = [
        (dimension, value, _pairs([unit for unit in units if unit.groups.get(dimension) == value]))
        for dimension, values in dimensions(units).items()
        for value in values
    ]
    found += [(COMPONENT, name, pairs) for name, pairs in _components(units, runs_a, runs_b)]
    tested = [(_differences(pairs), [clusters[task] for task in pairs]) for _, _, pairs in found]
    ps = [significance.sign_flip_test(differences, own).p.two_sided for differences, own in tested]
    each = 1 - (1 - confidence) / max(1, len(found))
    slices = []
    for (dimension, value, pairs), (differences, own), p, adjusted in zip(
        found, tested, ps, significance.holm(ps), strict=True
    ):
        slices.append(
            Slice(
                dimension=dimension,
                value=value,
                tasks=len(pairs),
                mean_a=fmean(fmean(a for a, _ in task) for task in pairs.values()),
                mean_b=fmean(fmean(b for _, b in task) for task in pairs.values()),
                difference=fmean(differences),
                interval=intervals.t_interval(differences, own, each),
                p=p,
                adjusted_p=adjusted,
            )
        )
    return tuple(slices)


def _pairs(units: Sequence[UnitComparison]) -> Pairs:
    pairs: Pairs = defaultdict(list)
    for unit in units:
        pairs[unit.key.task_id].append((unit.mean_a, unit.mean_b))
    return pairs


def _differences(pairs: Pairs) -> list[float]:
    return [fmean(b - a for a, b in task) for task in pairs.values()]


def _components(units: Sequence[UnitComparison], runs_a: Runs, runs_b: Runs) -> Iterator[tuple[str, Pairs]]:
    pairs: dict[str, Pairs] = defaultdict(lambda: defaultdict(list))
    for unit in units:
        a, b = _component_means(runs_a[unit.key]), _component_means(runs_b[unit.key])
        for name in a.keys() & b.keys():
            pairs[name][unit.key.task_id].append((a[name], b[name]))
    if len(pairs) > 1:
        yield from sorted(pairs.items())


def _component_means(runs: Sequence[EvalResult]) -> dict[str, float]:
    """Return the mean of every component: a grade's criteria if it has any, else the grade itself."""
    scores: dict[str, list[float]] = defaultdict(list)
    for run in runs:
        graded = [grade for grade in run.grades if grade.status == "graded"]
        for grade in graded:
            prefix = f"{grade.assertion_id}: " if len(graded) > 1 else ""
            for criterion in grade.criteria_scores:
                scores[f"{prefix}{criterion.criterion}"].append(criterion.score)
            if not grade.criteria_scores:
                scores[grade.assertion_id].append(grade.score)
    return {name: fmean(values) for name, values in scores.items()}

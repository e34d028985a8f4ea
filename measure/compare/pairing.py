"""Which runs of the two arms belong together? Pairs them by task, and says which groups each task is in."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

import numpy as np

from locobench.shared.errors import InputError
from locobench.shared.grouping import grouped
from measure.compare.verdicts import REPOSITORIES, UnitComparison, UnitKey
from measure.records import EvalResult, Outcome
from measure.summary.metrics import Metric, metric_value

QUARTILES_FROM = 8
"""A group with more distinct numbers than this is split into quartiles."""

Arms = Sequence[tuple[str, Sequence[EvalResult]]]
"""Label and all runs of each arm, lost ones included."""
Runs = Mapping[UnitKey, Sequence[EvalResult]]
"""The runs of one arm by what they are paired by."""


def pairing(a: Sequence[EvalResult], b: Sequence[EvalResult]) -> Callable[[EvalResult], UnitKey]:
    """Return the key by which runs are paired: always the task; config and model if there are several that both share.

    InputError if the arms have no model in common and one has several, so that it is unclear which to compare.
    """
    models_a, models_b = {r.model for r in a}, {r.model for r in b}
    if a and b and not models_a & models_b and len(models_a) + len(models_b) > 2:
        raise InputError(
            f"the arms have no model in common and one has several: {', '.join(sorted(models_a))} against "
            f"{', '.join(sorted(models_b))}; choose one for each with --model-a and --model-b"
        )
    by_config = _several_shared({r.config_name for r in a}, {r.config_name for r in b})
    by_model = _several_shared(models_a, models_b)
    return lambda run: UnitKey(run.task_id, run.config_name if by_config else "", run.model if by_model else "")


def _several_shared(a: set[str], b: set[str]) -> bool:
    return len(a | b) > 1 and bool(a & b or not (a and b))


def without_pilot(arms: Arms) -> tuple[Arms, dict[str, int]]:
    """Leave out the runs by which a task of any arm was selected; return the rest, and how many were left out by label.

    Choosing by results flatters the arm that holds them: a task chosen for its low reward does better the next time.
    """
    pilot = {name for _, runs in arms for run in runs for name in run.pilot_runs}
    if not pilot:
        return arms, {}
    kept = [(label, [run for run in runs if run.run_id not in pilot]) for label, runs in arms]
    return kept, {label: len(runs) - len(rest) for (label, runs), (_, rest) in zip(arms, kept, strict=True)}


def by_unit(results: Sequence[EvalResult], key_of: Callable[[EvalResult], UnitKey], lost: float | None = None) -> Runs:
    """Group the measured runs by unit. With `lost`, 0 to 1, lost runs are among them and have that score."""
    if lost is not None:
        as_if = {"overall_score": lost, "passed": lost == 1, "outcome": Outcome.COMPLETED, "grades": []}
        results = [result if result.measured else result.model_copy(update=as_if) for result in results]
    runs = grouped((result for result in results if result.measured), key_of)
    return {key: sorted(found, key=lambda r: r.run_index) for key, found in runs.items()}


def pair_units(runs_a: Runs, runs_b: Runs, metric: Metric) -> list[UnitComparison]:
    """Compare every unit that both arms measured, sorted by key; groups of many numbers become quartiles."""
    both = sorted(runs_a.keys() & runs_b.keys())
    units = [_unit(key, runs_a[key], runs_b[key], metric) for key in both]
    if later := _told_by_runs([{key: _values_by_group(runs[key]) for key in both} for runs in (runs_a, runs_b)]):
        kept = [{n: v for n, v in u.groups.items() if re.sub("_[ab]$", "", n) not in later} for u in units]
        units = [unit.model_copy(update={"groups": groups}) for unit, groups in zip(units, kept, strict=True)]
    return by_quartile(units)


Told = Mapping[UnitKey, Mapping[str, set[str]]]
"""Values of every group of every unit, as the runs of an arm have them."""


def _told_by_runs(arms: Sequence[Told]) -> set[str]:
    """Return the groups that say how runs went: in which runs of a task differ, and not by a choice for a whole arm.

    They are no property of the task. Such a column parts won from lost runs, so that its groups differ although
    nothing changed. A choice for an arm has other values in the other arm, and few; configs and models are chosen.
    """
    names = {name for of_arm in arms for own in of_arm.values() for name in own} - {"config", "model", *REPOSITORIES}
    later = set()
    for name in names:
        of_a, of_b = ({key: own[name] for key, own in of_arm.items() if name in own} for of_arm in arms)
        all_a, all_b = (set().union(*of_arm.values()) for of_arm in (of_a, of_b))
        within = any(len(values) > 1 for of_arm in (of_a, of_b) for values in of_arm.values())
        between = any(of_a[key] != of_b[key] for key in of_a.keys() & of_b.keys())
        if within or (between and (all_a & all_b or len(all_a | all_b) > QUARTILES_FROM)):
            later.add(name)
    return later


def _unit(key: UnitKey, a: Sequence[EvalResult], b: Sequence[EvalResult], metric: Metric) -> UnitComparison:
    values_a, values_b = ([metric_value(r, metric) for r in runs] for runs in (a, b))
    passed_a, passed_b = (sum(r.passed for r in runs) for runs in (a, b))
    return UnitComparison(
        key=key,
        metric=metric,
        scores_a=tuple(r.overall_score for r in a),
        scores_b=tuple(r.overall_score for r in b),
        passed_a=passed_a,
        passed_b=passed_b,
        difference=fmean(values_b) - fmean(values_a),
        groups=_groups(a, b),
    )


def _groups(a: Sequence[EvalResult], b: Sequence[EvalResult]) -> dict[str, str]:
    """Return the groups of one task: those equal in both arms, and those of one arm as NAME_a or NAME_b."""
    groups: dict[str, str] = {}
    of_a, of_b = _own_groups(a), _own_groups(b)
    for name, value in (of_a | of_b).items():
        other = of_a.get(name, value)
        groups |= {name: value} if value == other else {f"{name}_a": other, f"{name}_b": value}
    return groups


def _own_groups(runs: Sequence[EvalResult]) -> dict[str, str]:
    return {name: " + ".join(sorted(values)) for name, values in _values_by_group(runs).items()}


def _values_by_group(runs: Sequence[EvalResult]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for run in runs:
        own = {"category": run.category, "language": run.language, "difficulty": run.difficulty}
        for name, value in (own | {"config": run.config_name, "model": run.model} | run.groups).items():
            if value:
                found[name].add(value)
    return found


def by_quartile(units: Sequence[UnitComparison]) -> list[UnitComparison]:
    """Replace every group of many numbers by its quartile, such as `Q1: 1,200 to 40,000`."""
    names: dict[tuple[str, str], str] = {}
    for name in {name for unit in units for name in unit.groups}:
        every = [unit.groups[name] for unit in units if name in unit.groups]
        numbers = {text: _number(text) for text in every}
        if len(numbers) > QUARTILES_FROM and all(map(math.isfinite, numbers.values())):
            edges = np.quantile([numbers[value] for value in every], (0.25, 0.5, 0.75))
            quarters: dict[int, list[str]] = defaultdict(list)
            for value in sorted(numbers, key=numbers.__getitem__):
                quarters[int(np.searchsorted(edges, numbers[value]))].append(value)
            for quarter, values in quarters.items():
                span = f"{numbers[values[0]]:,.10g} to {numbers[values[-1]]:,.10g}"
                names |= {(name, value): f"Q{quarter + 1}: {span}" for value in values}
    if not names:
        return list(units)
    return [
        unit.model_copy(update={"groups": {name: names.get((name, v), v) for name, v in unit.groups.items()}})
        for unit in units
    ]


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


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

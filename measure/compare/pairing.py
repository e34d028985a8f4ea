"""Which runs of the two arms belong together? Pairs them by task, and says which groups each task is in."""

from __future__ import annotations

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
    told = [(_values_by_group(runs_a[key]), _values_by_group(runs_b[key])) for key in both]
    groups = [_groups(*arms, _told_by_runs(told)) for arms in told]
    units = [_unit(key, runs_a[key], runs_b[key], metric, own) for key, own in zip(both, groups, strict=True)]
    return by_quartile(units)


Told = dict[str, set[str]]
"""Values of every group of a unit, as its runs in an arm have them."""


def _told_by_runs(told: Sequence[tuple[Told, Told]]) -> set[str]:
    """Return the groups in which runs of a task differ, so that they may say how a run went.

    Such a column parts won from lost runs, and its groups differ although nothing changed. Configs and models are
    chosen for a run.
    """
    found = {name for a, b in told for name in a | b if len(a.get(name, set()) | b.get(name, set())) > 1}
    return found - {"config", "model", *REPOSITORIES}


def _unit(
    key: UnitKey, a: Sequence[EvalResult], b: Sequence[EvalResult], metric: Metric, groups: dict[str, str]
) -> UnitComparison:
    values_a, values_b = ([metric_value(r, metric) for r in runs] for runs in (a, b))
    return UnitComparison(
        key=key,
        metric=metric,
        scores_a=tuple(r.overall_score for r in a),
        scores_b=tuple(r.overall_score for r in b),
        passed_a=sum(r.passed for r in a),
        passed_b=sum(r.passed for r in b),
        difference=fmean(values_b) - fmean(values_a),
        groups=groups,
    )


def _groups(a: Told, b: Told, left_out: set[str]) -> dict[str, str]:
    """Return the groups of one task: those equal in both arms, and those of one arm as NAME_a or NAME_b."""
    groups: dict[str, str] = {}
    of_a, of_b = ({name: " + ".join(sorted(values)) for name, values in arm.items()} for arm in (a, b))
    for name, value in (of_a | of_b).items():
        if name not in left_out:
            other = of_a.get(name, value)
            groups |= {name: value} if value == other else {f"{name}_a": other, f"{name}_b": value}
    return groups


def _values_by_group(runs: Sequence[EvalResult]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for run in runs:
        own = {"category": run.category, "language": run.language, "difficulty": run.difficulty}
        for name, value in (own | {"config": run.config_name, "model": run.model} | run.groups).items():
            if value:
                found[name].add(value)
    return dict(found)


def by_quartile(units: Sequence[UnitComparison]) -> list[UnitComparison]:
    """Replace every group of many numbers by its quartile, such as `Q1: 1,200 to 40,000`."""
    names: dict[tuple[str, str], str] = {}
    for name in {name for unit in units for name in unit.groups}:
        texts = [unit.groups[name] for unit in units if name in unit.groups]
        try:
            numbers = np.array(list(map(float, texts)))
        except ValueError:
            continue
        if len(set(texts)) > QUARTILES_FROM and np.isfinite(numbers).all():
            quarters = np.searchsorted(np.quantile(numbers, (0.25, 0.5, 0.75)), numbers)
            for text, quarter in zip(texts, quarters, strict=True):
                own = numbers[quarters == quarter]
                names[name, text] = f"Q{quarter + 1}: {own.min():,.10g} to {own.max():,.10g}"
    return [
        unit.model_copy(update={"groups": {name: names.get((name, v), v) for name, v in unit.groups.items()}})
        for unit in units
    ]


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

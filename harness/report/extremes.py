"""Which tasks gained and lost most, and what did their runs do? Both arms of a task side by side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from harness.compare.verdicts import Comparison, Metric, UnitComparison, UnitKey
from harness.models import EvalResult, VerifierMetrics
from harness.statistics import TIE

MOST = 10
"""Largest number of wins, of losses, and of runs listed for each."""
ANSWER_CHARS = 3000
"""Characters shown of each answer when both are side by side; the run's own page has more."""
NAMES = 12
"""Names shown of a list of evidence before it says how many more there are."""


@dataclass(frozen=True)
class ArmOfTask:
    """What one arm did with a task: all its measured runs, and a typical one."""

    label: str
    runs: tuple[tuple[int, EvalResult], ...]
    """Each run, with its number in the page's list."""
    typical: EvalResult
    """The run whose value is closest to the mean."""

    @property
    def answer(self) -> str:
        """The answer of the typical run; empty when not recorded."""
        return self.typical.trace.result or self.typical.trace.claude_response

    @property
    def calls(self) -> str:
        """Tool calls of each run, such as `4, 7`."""
        counts = [run.trace.tool_count for _, run in self.runs[:MOST]]
        if all(count is None for count in counts):
            return "not recorded"
        return ", ".join("not recorded" if count is None else str(count) for count in counts)

    @property
    def metrics(self) -> VerifierMetrics | None:
        """What the verifier found in the typical run's answer; None when it reported nothing."""
        return next((grade.verifier for grade in self.typical.grades if grade.verifier), None)


@dataclass(frozen=True)
class Extreme:
    """A task that gained or lost."""

    name: str
    unit: UnitComparison
    arms: tuple[ArmOfTask, ArmOfTask]


def evidence(metrics: VerifierMetrics) -> list[tuple[str, str]]:
    """List what the verifier found: the kind of finding, with its number and first names."""
    kinds = {
        "identifiers": None if metrics.identifiers is None else list(metrics.identifiers),
        "files": None if metrics.files is None else list(metrics.files),
        "invented": metrics.invented_identifiers,
    }
    return [(name, "not recorded" if found is None else _listed(found)) for name, found in kinds.items()]


def _listed(names: Sequence[str]) -> str:
    if not names:
        return "none"
    more = f" and {len(names) - NAMES} more" if len(names) > NAMES else ""
    return f"{len(names)}: {', '.join(names[:NAMES])}{more}"


def extremes(
    comparison: Comparison, runs_a: Sequence[tuple[int, EvalResult]], runs_b: Sequence[tuple[int, EvalResult]]
) -> tuple[list[Extreme], list[Extreme]]:
    """Return up to MOST wins and MOST losses of B, the largest first.

    Args:
        comparison: compares the two arms.
        runs_a: runs of A with their numbers in the page.
        runs_b: likewise for B.
    """
    units = sorted(comparison.decision.units, key=lambda unit: (-unit.difference, unit.key))
    wins = [unit for unit in units if unit.difference > TIE][:MOST]
    losses = [unit for unit in reversed(units) if unit.difference < -TIE][:MOST]
    of_a, of_b = _by_task(runs_a), _by_task(runs_b)

    def shown(unit: UnitComparison) -> Extreme:
        a = _arm(comparison.label_a, _of_unit(of_a, unit.key), unit.mean_a, unit.metric)
        b = _arm(comparison.label_b, _of_unit(of_b, unit.key), unit.mean_b, unit.metric)
        return Extreme(comparison.decision.name(unit), unit, (a, b))

    return [shown(unit) for unit in wins], [shown(unit) for unit in losses]


Numbered = list[tuple[int, EvalResult]]


def _by_task(runs: Sequence[tuple[int, EvalResult]]) -> dict[str, Numbered]:
    found: dict[str, Numbered] = defaultdict(list)
    for number, run in runs:
        if run.measured:
            found[run.task_id].append((number, run))
    return found


def _of_unit(runs: Mapping[str, Numbered], key: UnitKey) -> Numbered:
    """Return the runs that belong to a unit; an empty config or model in its key stands for any."""
    return [
        (number, run)
        for number, run in runs[key.task_id]
        if key.config in ("", run.config_name) and key.model in ("", run.model)
    ]


def _arm(label: str, runs: Numbered, mean: float, metric: Metric) -> ArmOfTask:
    value: Callable[[EvalResult], float] = (
        (lambda run: float(run.passed)) if metric == "pass_rate" else (lambda run: run.overall_score)
    )
    typical = min(runs, key=lambda numbered: (abs(value(numbered[1]) - mean), numbered[0]))[1]
    return ArmOfTask(label, tuple(runs), typical)

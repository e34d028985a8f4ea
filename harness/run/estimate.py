"""What will a matrix cost? Estimates it from earlier results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from statistics import fmean

from harness.errors import InputError
from harness.models import EvalResult
from harness.results.files import load_results
from harness.run.matrix import PlannedRun

Group = Callable[[str, str, str], tuple[str, ...]]

GROUPS: tuple[Group, ...] = (
    lambda task, config, model: (task, config, model),
    lambda task, _config, model: (task, model),
    lambda _task, config, model: (config, model),
    lambda _task, _config, model: (model,),
)
"""Which earlier runs predict the cost of a run, most similar first; runs of another model never do."""


def estimate(runs: list[PlannedRun], kept: int, results_dir: Path) -> str:
    """Return one line: the expected cost of the remaining runs in US$, or why it is unknown.

    `kept` runs are already done. The estimate uses the results files in `results_dir`.
    """
    results = _earlier(results_dir)
    means = [_means(results, group) for group in GROUPS]
    costs = []
    for run in runs:
        place = (run.task.id, run.config.name, run.config.model)
        found = (mean[key] for mean, group in zip(means, GROUPS, strict=True) if (key := group(*place)) in mean)
        costs.append(next(found, None))
    known = [cost for cost in costs if cost is not None]
    if not known:
        return f"cost: unknown, since {results_dir} holds no results with these models"
    dollars = fmean(known) * (len(runs) - kept)
    unlike = len(runs) - len(known)
    share = f"; {unlike} runs resemble no earlier one and are taken to cost the mean" if unlike else ""
    return f"cost: about ${dollars:.2f}, from {len(results)} earlier runs in {results_dir}{share}"


def _earlier(results_dir: Path) -> list[EvalResult]:
    results = []
    for path in sorted(results_dir.glob("*.json")):
        if not path.name.endswith(".debug.json"):
            try:
                results += [r for r in load_results(path) if r.cost_usd is not None]
            except InputError:  # some other JSON file
                continue
    return results


def _means(results: list[EvalResult], group: Group) -> dict[tuple[str, ...], float]:
    costs: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for result in results:
        costs[group(result.task_id, result.config_name, result.model)].append(result.cost_usd or 0.0)
    return {key: fmean(values) for key, values in costs.items()}

"""What will a matrix cost? Estimates it from earlier results."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from statistics import fmean

from harness.errors import InputError
from harness.models import EvalResult
from harness.results.files import load_results
from harness.run.plan import PlannedRun


def estimate(runs: list[PlannedRun], kept: int, results_dir: Path) -> str:
    """Return one line: the expected cost of the remaining runs in US$, or why it is unknown.

    `kept` runs are already done. A run is taken to cost what earlier ones of its task and model did, else of its
    model, by the results files in `results_dir`; runs of another model predict nothing.
    """
    results = _earlier(results_dir)
    costs: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for result in results:
        for key in ((result.task_id, result.model), (result.model,)):
            costs[key].append(result.cost_usd or 0.0)
    alike = [costs.get((run.task.id, run.config.model)) or costs.get((run.config.model,)) for run in runs]
    known = [fmean(found) for found in alike if found]
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

"""What will a matrix cost? Estimates it from earlier results."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from pathlib import Path
from statistics import fmean

from harness.errors import InputError
from harness.results.files import load_results
from harness.run.plan import PlannedRun


def estimate(runs: list[PlannedRun], kept: int, results_dir: Path) -> str:
    """Return one line: the expected cost of the remaining runs in US$, or why it is unknown.

    `kept` runs are already done. A run is taken to cost what earlier ones of its task and model did, else of its
    model, by the results files in `results_dir`; runs of another model predict nothing.
    """
    costs: dict[tuple[str, ...], list[float]] = defaultdict(list)
    number = 0
    for path in results_dir.glob("*.json"):
        with contextlib.suppress(InputError):  # some other JSON file
            for result in load_results(path) if not path.name.endswith(".debug.json") else ():
                if result.cost_usd is not None:
                    number += 1
                    costs[result.task_id, result.model].append(result.cost_usd)
                    costs[(result.model,)].append(result.cost_usd)
    alike = [costs.get((run.task.id, run.config.model)) or costs.get((run.config.model,)) for run in runs]
    known = [fmean(found) for found in alike if found]
    if not known:
        return f"cost: unknown, since {results_dir} holds no results with these models"
    unlike = len(runs) - len(known)
    share = f"; {unlike} runs resemble no earlier one and are taken to cost the mean" if unlike else ""
    dollars = fmean(known) * (len(runs) - kept)
    return f"cost: about ${dollars:.2f}, from {number} earlier runs in {results_dir}{share}"

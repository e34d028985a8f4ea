"""Can a journal be continued? Checks that it is the same experiment, and counts the runs that would be repeated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from harness.errors import InputError
from harness.models import EvalResult
from harness.run.matrix import Key, PlannedRun, finished_before


def refuse_other_user_level(journal: Path, earlier: Iterable[EvalResult], runs: Iterable[PlannedRun]) -> None:
    """Refuse to continue a journal with different user-level files.

    Raises:
        InputError: the content of --mcp-config or of a snapshot differs from the journal's.
    """
    planned = {run.config.name: run.fingerprints.user_level for run in runs}
    for result in earlier:
        name, begun_with = result.config_name, result.fingerprints.user_level
        if planned.get(name, begun_with) != begun_with:
            raise InputError(
                f"{journal}: begun with another --mcp-config or snapshot for config {name}; "
                "give the same files to go on with it, or name another -o"
            )


def refuse_other_judge(journal: Path, earlier: Iterable[EvalResult], judge: str) -> None:
    """Refuse to continue a journal with a different judge.

    Raises:
        InputError: the journal holds verdicts of another model.
    """
    for result in earlier:
        for grade in result.grades:
            if grade.judge is not None and grade.status == "graded" and grade.judge.model != judge:
                raise InputError(
                    f"{journal}: begun with the judge {grade.judge.model}, and not with {judge}; "
                    "give the same --judge-model to go on with it, or name another -o"
                )


def paid_again(runs: Iterable[PlannedRun], results: Iterable[EvalResult]) -> dict[str, int]:
    """Count the runs in a journal that have to be repeated, by reason."""
    rows = list(results)
    done = finished_before(runs, rows)
    last = {_cell(row.key): row for row in rows}
    reasons = Counter(
        _why_again(run, last[_cell(run.key)]) for run in runs if run.key not in done if _cell(run.key) in last
    )
    return dict(reasons.most_common())


FAILED = "did not come to their end"


def _why_again(run: PlannedRun, row: EvalResult) -> str:
    if not row.agent_finished:
        return FAILED
    if row.fingerprints.task != run.fingerprints.task:
        return "have another task now: its text, checks or files changed, or this harness is another version"
    if row.fingerprints.config != run.fingerprints.config:
        return "have another config now: its content, agent or place changed, or this harness is another version"
    return f"wait for checks of files that are gone (kept in {row.kept_project and row.kept_project.parent})"


def _cell(key: Key) -> tuple[str, str, str, int]:
    return key[:4]

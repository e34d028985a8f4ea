"""What an earlier call left in a journal: is it the same experiment, and what of it would be paid for again?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from harness.errors import InputError
from harness.models import EvalResult
from harness.run.matrix import Key, PlannedRun, finished_before


def refuse_other_user_level(journal: Path, earlier: Iterable[EvalResult], runs: Iterable[PlannedRun]) -> None:
    """Stop before runs with other files for the user are put beside those that a journal was begun with.

    Raises:
        InputError: --mcp-config or a snapshot has another content than in the journal.
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
    """Stop before verdicts of another judge are put beside those that a journal holds.

    Raises:
        InputError: the journal has verdicts of another model.
    """
    for result in earlier:
        for grade in result.grades:
            if grade.judge is not None and grade.status == "graded" and grade.judge.model != judge:
                raise InputError(
                    f"{journal}: begun with the judge {grade.judge.model}, and not with {judge}; "
                    "give the same --judge-model to go on with it, or name another -o"
                )


def paid_again(runs: Iterable[PlannedRun], results: Iterable[EvalResult]) -> dict[str, int]:
    """Why runs that a journal tells of are made again: how many there are, by reason."""
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
        return "have another config now: its content or place changed, or this harness is another version"
    return f"wait for checks of files that are gone (kept in {row.kept_project and row.kept_project.parent})"


def _cell(key: Key) -> tuple[str, str, str, int]:
    return key[:4]

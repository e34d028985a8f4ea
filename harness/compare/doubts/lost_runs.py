"""Which runs are missing? Runs that measured nothing, by cause, and jobs that ended early."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from harness.compare.metrics import count_errors
from harness.compare.wording import counted, errors_text, some
from harness.models import ErrorKind, EvalResult

CURES: dict[ErrorKind, tuple[str, str]] = {
    ErrorKind.KILLED: (
        "the container was killed or gone",
        "look whether memory ran out (then raise memory_mb), and run them again",
    ),
    ErrorKind.GRADING: (
        "there is no reward",
        "look at what the verifier said (verifier/test-stdout.txt of a trial) and run them again",
    ),
    ErrorKind.AUTH: ("the login failed", "check the key and run them again"),
    ErrorKind.CREDIT: ("the account has no credit", "top it up and run them again"),
    ErrorKind.MODEL_NOT_FOUND: ("the model was not found", "correct its name and run them again"),
    ErrorKind.RATE_LIMIT: ("the service limited the rate", "run them again with fewer at a time"),
    ErrorKind.OVERLOADED: ("the service was overloaded", "run them again later"),
    ErrorKind.FIXTURE: ("the environment could not be built", "mend it (trial.log of a trial) and run them again"),
    ErrorKind.NOT_LOADED: ("a skill or server did not load", "mend the config and run them again"),
}
"""What went wrong, in words, and what to do about it."""

OTHER = ("the run broke off", "read why with `analyze --failed-only`, and run them again")
JUDGE = ("the judge gave no verdict", "judge them again with `grade`")

Labelled = Sequence[tuple[str, Sequence[EvalResult]]]


def lost_runs(arms: Labelled) -> Iterator[str]:
    """Yield a sentence for each arm and cause of runs that count in no rate."""
    for label, results in arms:
        causes: dict[tuple[str, str], list[EvalResult]] = defaultdict(list)
        for run in results:
            if run.lost_to:
                known = CURES.get(run.trace.error_kind, OTHER)
                causes[JUDGE if run.lost_to == "judge_error" else known].append(run)
        for (cause, cure), runs in causes.items():
            tasks = some(sorted({run.task_id for run in runs}))
            yield (
                f"{label}: {len(runs)} of {counted(len(results), 'run')} {'says' if len(runs) == 1 else 'say'} nothing "
                f"about the agent "
                f"({errors_text(count_errors(runs))}: {cause}; {tasks}) "
                f"and {'is' if len(runs) == 1 else 'are'} left out of the rates; {cure}."
            )


def cut_short(arms: Labelled) -> Iterator[str]:
    """Yield a sentence for each incomplete job, and for each arm with jobs that repeated failed runs."""
    for label, results in arms:
        batches = {run.batch.name: run.batch for run in results if run.batch}
        for batch in batches.values():
            if batch.cut_short:
                there = _share(batch.present, batch.planned)
                yield (
                    f"{label}: the job {batch.name} is not whole, {there}, so its tasks may be no fair sample; "
                    "resume it (`harbor job resume`, or the matrix with the same journal), then compare again."
                )
        retried = [batch for batch in batches.values() if batch.retries]
        if retried:
            count = sum(batch.retries or 0 for batch in retried)
            yield (
                f"{label}: {counted(count, 'run')} of {some([batch.name for batch in retried])} failed and "
                "were made again; only the last try is here, and cost and errors of the others are not: "
                "compare jobs with the same number of retries."
            )


def _share(present: int | None, planned: int | None) -> str:
    if planned is None:
        return "it has not finished"
    return f"{'?' if present is None else present} of its {planned} runs left a result"

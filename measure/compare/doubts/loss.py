"""Which runs were lost, and do they rule out a verdict? Runs are rarely lost at random: often the hard ones are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from locobench.shared.grouping import grouped
from measure.compare.pairing import Arms
from measure.compare.verdicts import ArmLoss, Decision, Loss, Verdict
from measure.records import Batch, ErrorKind, EvalResult, Outcome
from measure.statistics.estimates import Interval
from measure.statistics.significance import fisher_test
from measure.summary.metrics import count_errors
from measure.summary.wording import counted, errors_text, percent, some

MOST_LOST = 0.2
"""Largest share of an arm's runs that may be lost; beyond it, the rest is not a fair sample."""
MOST_APART = 0.1
"""Largest gap between the arms' shares; such a gap alone can move the difference by as much."""
APART_P = 0.05
"""A smaller gap counts too if Fisher's test gives a two-sided p-value up to this."""

CURES = {
    ErrorKind.KILLED: "the container was killed or gone; if memory ran out, raise memory_mb, then run them again",
    ErrorKind.GRADING: "there is no reward; read verifier/test-stdout.txt of a trial, then run them again",
    ErrorKind.AUTH: "the login failed; check the key, then run them again",
    ErrorKind.CREDIT: "the account has no credit; top it up, then run them again",
    ErrorKind.MODEL_NOT_FOUND: "the model was not found; correct its name, then run them again",
    ErrorKind.RATE_LIMIT: "the service limited the rate; run them again with fewer at a time",
    ErrorKind.OVERLOADED: "the service was overloaded; run them again later",
    ErrorKind.FIXTURE: "the environment could not be built; fix it (trial.log has the error), then run them again",
    ErrorKind.NOT_LOADED: "a skill or server did not load; fix the config, then run them again",
}
"""What went wrong, and what to do about it."""
OTHER = "the run broke off; read why with `analyze --failed-only`, then run them again"
JUDGE = "the judge gave no verdict; judge them again (`matrix --resume`, or `grade` of a Harbor job)"


def find_loss(arms: Arms) -> Loss:
    """Count what each arm lost, and decide whether that alone rules out a verdict."""
    (label_a, a), (label_b, b) = counts = [(label, _of_arm(results)) for label, results in arms]
    p, apart = unlike(a.lost, a.planned, b.lost, b.planned)
    many = (f"{label} lost {arm.lost} of {arm.planned} runs" for label, arm in counts if arm.share > MOST_LOST)
    cap = next((f"{text}, more than {percent(MOST_LOST)}" for text in many), "")
    if not cap and apart:
        cap = (
            f"the arms lost different shares of their runs, {a.lost} of {a.planned} in {label_a} and "
            f"{b.lost} of {b.planned} in {label_b}"
        )
    return Loss(a=a, b=b, p=p, cap=cap)


def unlike(lost_a: int, runs_a: int, lost_b: int, runs_b: int) -> tuple[float, bool]:
    """Return Fisher's two-sided p that the arms lost unlike shares of their runs, and whether they count as unlike."""
    p = fisher_test(runs_a - lost_a, runs_a, runs_b - lost_b, runs_b).two_sided
    return p, p <= APART_P or abs(lost_a / max(1, runs_a) - lost_b / max(1, runs_b)) > MOST_APART


def _of_arm(results: Sequence[EvalResult]) -> ArmLoss:
    missing = sum(max(0, (batch.planned or 0) - (batch.present or 0)) for batch in _batches(results))
    measured = [run for run in results if run.measured]
    ended = [run for run in measured if run.outcome is not Outcome.COMPLETED]
    return ArmLoss(
        planned=len(results) + missing,
        lost=len(results) - len(measured) + missing,
        missing=missing,
        ended=len(ended),
        without_reward=sum(not run.grades for run in ended),
    )


def _batches(results: Sequence[EvalResult]) -> Iterable[Batch]:
    return {run.batch.name: run.batch for run in results if run.batch}.values()


def with_lost_runs(decision: Decision, as_zero: Decision, cap: str) -> Decision:
    """Return the decision that lost runs leave standing: one that is the same with them left out and at 0.

    The caps make sure that lost runs are few and alike in both arms; the truth is then between the two. The intervals
    span both. `cap` says why there can be no verdict; empty if there can.
    """
    both = {decision.verdict, as_zero.verdict}
    verdict = decision.verdict if len(both) == 1 else Verdict.NO_EVIDENCE
    if cap or Verdict.NOT_ENOUGH_DATA in both:
        verdict = Verdict.NOT_ENOUGH_DATA
    weaker = max(decision, as_zero, key=lambda found: found.p)
    return decision.model_copy(
        update={
            "verdict": verdict,
            "interval": _span(decision.interval, as_zero.interval),
            "equivalence": _span(decision.equivalence, as_zero.equivalence),
            "no_worse": decision.no_worse and as_zero.no_worse,
            "alone_here": decision.alone_here or as_zero.alone_here,
            "suite": weaker.suite,
            "these_tasks": weaker.these_tasks,
        }
    )


def _span(one: Interval | None, other: Interval | None) -> Interval | None:
    return one and other and Interval(min(one.low, other.low), max(one.high, other.high))


def lost_runs(arms: Arms) -> Iterator[str]:
    """Yield a sentence for each arm and cause of runs that count in no rate."""
    for label, results in arms:
        for cause, runs in grouped((run for run in results if run.lost_to), _cure).items():
            yield (
                f"{label} lost {len(runs)} of {counted(len(results), 'run')} ({errors_text(count_errors(runs))}; "
                f"{_tasks(runs)}), counted in no rate: {cause}."
            )


def _cure(run: EvalResult) -> str:
    return JUDGE if run.lost_to == "judge_error" else CURES.get(run.trace.error_kind, OTHER)


def doubtful_zeros(arms: Arms) -> Iterator[str]:
    """Yield a sentence for each arm with measured zeros that may be none, by a guess from a text."""
    for label, results in arms:
        runs = [run for run in results if run.measured and run.trace.doubt]
        if runs:
            yield (
                f"{label} has {counted(len(runs), 'zero')} that may be lost runs, judging by a text "
                f"({runs[0].trace.doubt}; {_tasks(runs)}); they count, so read what happened."
            )


def _tasks(runs: Sequence[EvalResult]) -> str:
    return some(sorted({run.task_id for run in runs}))


def cut_short(arms: Arms) -> Iterator[str]:
    """Yield a sentence for each incomplete job."""
    for label, results in arms:
        for batch in _batches(results):
            if batch.cut_short:
                left = f"{batch.present} of its {batch.planned} runs left a result"
                yield (
                    f"{label}: the job {batch.name} is incomplete: {left if batch.planned else 'it has not finished'}. "
                    "Its tasks may not be a fair sample: resume it (`harbor job resume`, or the matrix with the same "
                    "journal), then compare again."
                )

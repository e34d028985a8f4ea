"""Do the lost runs leave room for a verdict? Judged before it, for what is lost is rarely lost at random."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness import statistics
from harness.compare.decision import beyond
from harness.compare.findings import ArmLoss, Loss
from harness.compare.verdicts import Decision, Verdict
from harness.compare.wording import percent
from harness.models import EvalResult, Outcome
from harness.statistics import Interval

MOST_LOST = 0.2
"""Share of an arm's runs; beyond it the rest is no fair sample of what the arm does."""
MOST_APART = 0.1
"""Between the arms' shares; such a gap alone can move the difference by as much."""
APART_P = 0.05
"""Two-sided p-value of Fisher's test from which a smaller gap counts as well."""


def find_loss(a: Sequence[EvalResult], b: Sequence[EvalResult], label_a: str, label_b: str) -> Loss:
    """What each arm lost, and whether that alone forbids a verdict.

    Args:
        a: all runs of A, lost ones included.
        b: of B.
        label_a: A's name, for the reason.
        label_b: B's.
    """
    of_a, of_b = _of_arm(a), _of_arm(b)
    measured_a, measured_b = of_a.planned - of_a.lost, of_b.planned - of_b.lost
    p = statistics.fisher_test(measured_a, of_a.planned, measured_b, of_b.planned).two_sided
    cap = ""
    for label, arm in ((label_a, of_a), (label_b, of_b)):
        if arm.share > MOST_LOST:
            cap = f"{label} lost {arm.lost} of {arm.planned} runs, more than {percent(MOST_LOST)}"
    if not cap and (abs(of_a.share - of_b.share) > MOST_APART or p <= APART_P):
        cap = (
            f"the arms lost unlike shares of their runs, {of_a.lost} of {of_a.planned} in {label_a} and "
            f"{of_b.lost} of {of_b.planned} in {label_b}"
        )
    return Loss(a=of_a, b=of_b, p=p, cap=cap)


def _of_arm(results: Sequence[EvalResult]) -> ArmLoss:
    batches = {run.batch.name: run.batch for run in results if run.batch}
    missing = sum(max(0, (batch.planned or 0) - (batch.present or 0)) for batch in batches.values() if batch.planned)
    ended = [run for run in results if run.measured and run.outcome is not Outcome.COMPLETED]
    return ArmLoss(
        planned=len(results) + missing,
        lost=sum(not run.measured for run in results) + missing,
        missing=missing,
        ended=len(ended),
        without_reward=sum(not run.grades for run in ended),
    )


def hold_against_loss(
    decision: Decision, loss: Loss, threshold: float, decide_with: Callable[[float, float], Decision]
) -> tuple[Decision, Loss]:
    """The decision with the interval that the lost runs leave, and the bounds that it is made of.

    Each lost run is taken to have scored worst and best for B; a verdict stands when it is the same both times. Of
    runs that left no result the task is not known, so the bounds go out by the share of such runs.

    Args:
        decision: by the measured runs.
        loss: what was lost.
        threshold: of the comparison.
        decide_with: the decision had the lost runs of A and of B these values, 0 to 1.
    """
    if not loss.a.lost + loss.b.lost:
        return decision, loss
    worst, best = decide_with(1.0, 0.0), decide_with(0.0, 1.0)
    slack = sum(arm.missing / arm.planned for arm in (loss.a, loss.b) if arm.planned)
    low, high = _interval(worst), _interval(best)
    loss = loss.model_copy(
        update={
            "worst": Interval(max(-1.0, low.low - slack), high=low.high - slack),
            "best": Interval(high.low + slack, min(1.0, high.high + slack)),
        }
    )
    assert loss.worst is not None and loss.best is not None
    wide = decision.interval and Interval(
        min(decision.interval.low, loss.worst.low), max(decision.interval.high, loss.best.high)
    )
    verdict = decision.verdict
    if loss.cap:
        verdict = Verdict.NOT_ENOUGH_DATA
    elif verdict.decided:
        nearest = min((decision.difference, worst.difference, best.difference), key=abs)
        stands = {verdict} == {worst.verdict, best.verdict} and (
            abs(nearest) > slack if decision.these_tasks else beyond(wide, nearest, threshold) is verdict
        )
        verdict = verdict if stands else Verdict.NO_EVIDENCE
    return decision.model_copy(update={"verdict": verdict, "interval": wide}), loss


def _interval(decision: Decision) -> Interval:
    """Of a decision; without one nothing moved, and the difference is all there is."""
    return decision.interval or Interval(decision.difference, decision.difference)

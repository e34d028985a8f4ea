"""What does a comparison say? Whole sentences on the verdict, the lost runs, the costs and the tool calls."""

from __future__ import annotations

from math import ceil, log2

from locobench.shared.claim import REPOSITORIES_FOR_ALL, kind_of_claim
from measure.compare.differences import COSTS
from measure.compare.verdicts import Comparison, Verdict
from measure.compare.wording import interval_text, less_or_more, measure_name
from measure.statistics.estimates import TIE
from measure.summary.metrics import ToolCount
from measure.summary.wording import counted, metric_name, p_text, percent, points, rise_and_fall, some


def answer(comparison: Comparison) -> str:
    """Answer in one sentence: better, worse, as good, or not known, by how much, and for how much less or more."""
    a, b, verdict, primary = comparison.label_a, comparison.label_b, comparison.verdict, comparison.primary
    these = comparison.decision.these_tasks is not None
    where = " on these very tasks" if these else ""
    if verdict is Verdict.NOT_ENOUGH_DATA or primary is None:
        return f"Not enough data to say whether {b} is better or worse than {a}{where}{_why_not_enough(comparison)}."
    between = interval_text(primary.interval)
    if verdict.decided:
        side = "better" if verdict is Verdict.IMPROVEMENT else "worse"
        text = f"{b} is {side} than {a}{where}: {points(primary.difference)}"
        if verdict is Verdict.REGRESSION and primary.difference > -TIE:  # single tasks broke, and the whole did not
            broke = some([str(unit.key) for unit in comparison.decision.having(verdict)])
            text = f"{b} is worse than {a} on {broke}; all tasks together changed by {points(primary.difference)}"
        text += "" if these else f" ({interval_name(comparison)} {between})"
    elif verdict is Verdict.AS_GOOD:
        text = f"{b} is as good as {a}{_here(comparison)}, within {_margin(comparison)}"
    else:
        least = f" by more than {100 * comparison.threshold:g} points" if comparison.threshold else ""
        text = f"No evidence that {b} is better or worse than {a}{least}{where}"
        if primary.interval and not these:
            effect = "the effect" if primary.changed else "if there is an effect, it"
            text += f": {effect} lies between {between.replace(' to ', ' and ')} points ({interval_name(comparison)})"
        if comparison.decision.no_worse and not these:
            text += f"; it is not worse{_here(comparison)} by more than {_margin(comparison)}"
    return f"{text}{_for_less(comparison)}."


def _why_not_enough(comparison: Comparison) -> str:
    if comparison.loss.cap:
        return f": {comparison.loss.cap}"
    if comparison.primary is None:
        return ": no task was measured in both arms"
    if comparison.decision.these_tasks:
        return ": so few runs cannot show a change"
    least = ceil(-log2((1 - comparison.confidence) / 2))
    of = "tasks" if comparison.decision.clusters == comparison.primary.tasks else "repositories"
    return f": it takes {least} {of} or more"


def _here(comparison: Comparison) -> str:
    """Say where B is as good or no worse, if that is not shown of other repositories: on these 12 repositories."""
    decision = comparison.decision
    return f" on these {decision.repositories} repositories" if decision.alone_here else ""


def _margin(comparison: Comparison) -> str:
    """5 points (90 % interval -1.2 to +3.4 points)."""
    level, between = 2 * comparison.confidence - 1, interval_text(comparison.decision.equivalence)
    return f"{100 * comparison.margin:g} points ({100 * level:.3g} % interval {between} points)"


def _for_less(comparison: Comparison) -> str:
    """Say what clearly cost less or more: money, or tokens, or tool calls, whichever is known first, and time.

    Nothing is said of what too few runs recorded, and of what a typical task needed less of and all together more.
    """
    known = {cost.name: cost for cost in comparison.costs if not cost.uneven}
    money = known.get("cost") or known.get("tokens") or known.get("calls")
    found = [cost for cost in (money, known.get("time")) if cost and cost.changed and not cost.against_means]
    parts = [less_or_more(cost) for cost in found]
    how = ", for" if comparison.verdict is not Verdict.NO_EVIDENCE else f"; {comparison.label_b} took"
    return f"{how} {' and '.join(parts)}" if parts else ""


def shares_sentence(comparison: Comparison) -> str:
    """Say how many tasks were better, the same and worse; empty without tasks."""
    total = sum(comparison.shares.values())
    told = ", ".join(
        f"{count} {name} ({100 * count / total:.0f} %)" for name, count in comparison.shares.items() if total
    )
    return f"{comparison.label_b} on {counted(total, 'task')}: {told}." if total else ""


def notes(comparison: Comparison) -> list[str]:
    """Say what is not recorded, what was lost, how many tasks moved and which tools were called; [] without tasks."""
    said = (costs_sentence, loss_sentence, shares_sentence, tools_sentence)
    return [text for text in (sentence(comparison) for sentence in said) if text] if comparison.decision.units else []


def costs_sentence(comparison: Comparison) -> str:
    """Say which quantities are not recorded in both arms, which tasks their ratios leave out, and where means differ.

    Empty if there is nothing of the kind.
    """
    known = {cost.name for cost in comparison.costs}
    missing = [measure_name(name) for name in COSTS if name not in known]
    texts = [f"Not recorded in one arm or both: {some(missing)}."] if missing and comparison.primary else []
    zeros = [f"{counted(cost.zeros, 'task')} ({measure_name(cost.name)})" for cost in comparison.costs if cost.zeros]
    if zeros:
        texts.append(f"No ratio where runs needed none: {some(zeros)}.")
    for cost in comparison.costs:
        if cost.against_means:
            name = measure_name(cost.name)
            typical, together = ("less", "more") if cost.difference < 0 else ("more", "less")
            texts.append(
                f"The change is that of a typical task: {comparison.label_b} needed {typical} {name} there, and "
                f"{together} over all tasks together."
            )
    return " ".join(texts)


def tools_sentence(comparison: Comparison) -> str:
    """Name the tool calls per run in both arms, and the tools called most."""
    parts = []
    for label, use in ((comparison.label_a, comparison.tools_a), (comparison.label_b, comparison.tools_b)):
        if use is None:
            parts.append(f"{label}: not recorded")
            continue
        most = [f"{t.name} ({_use_text(t)}, {100 * t.runs / use.runs:.0f} % of runs)" for t in use.tools]
        told = f": {some(most)}" if most else ""
        parts.append(f"{label}: {use.calls / use.runs:.1f} a run over {counted(use.runs, 'run')}{told}")
    return f"Tool calls. {'. '.join(parts)}."


def _use_text(tool: ToolCount) -> str:
    """Say how often a tool was called, how often it failed, and how long an MCP tool took."""
    failed = f", {tool.failed} failed" if tool.failed else ""
    took = f", {tool.seconds:.1f} s each" if tool.seconds is not None and tool.name.startswith("mcp__") else ""
    return f"{counted(tool.calls, 'call')}{failed}{took}"


def reasons(comparison: Comparison) -> list[str]:
    """Explain the answer: what it is about, which tasks changed alone, and whether lost runs could change it."""
    decision, primary, texts = comparison.decision, comparison.primary, []
    if primary:
        texts.append(_claim(comparison))
    if p := decision.these_tasks:
        texts.append(
            f"Permuting the runs of each task between the arms gives a {'fall' if p.less <= p.greater else 'rise'} as "
            f"large with p = {p_text(p.smaller)} (one-sided); the interval is about tasks like these."
        )
    alone = [f"{unit.key} ({unit.verdict})" for unit in decision.units if unit.verdict.decided]
    if alone and not (comparison.verdict.decided and not decision.these_tasks):
        texts.append(f"Single tasks that changed by more than chance: {some(alone)}.")
    if comparison.loss.cap and comparison.verdict.decided:
        texts.append(
            f"Although {comparison.loss.cap}, the answer would be the same had every lost run gone against it."
        )
    return texts


def _claim(comparison: Comparison) -> str:
    """Say how many tasks of how many repositories were compared, and what the answer is about."""
    decision, of, more = comparison.decision, "", ""
    about = "these very tasks" if decision.these_tasks else "tasks like these"
    if decision.repositories and not decision.these_tasks:
        of = f" of {counted(decision.repositories, 'repository', 'repositories')}"
        about = kind_of_claim(decision.repositories)
        if decision.alone_here and comparison.verdict is Verdict.AS_GOOD:
            about, more = f"these {decision.repositories} repositories alone", ", since so few cannot show it of others"
        elif decision.repositories < REPOSITORIES_FOR_ALL:
            more = f", since it takes {REPOSITORIES_FOR_ALL} to speak for others"
    tasks = counted(comparison.primary.tasks if comparison.primary else 0, "task")
    return f"{metric_name(comparison.metric).capitalize()} over {tasks}{of}; the answer is about {about}{more}."


def headroom_sentence(comparison: Comparison) -> str:
    """Say how near A is to ceiling and floor, and so what the tasks can show, and what the design finds.

    Reports print it before an answer that finds no difference. Empty if one is found, or nothing was measured.
    """
    room = comparison.headroom
    if room is None or comparison.verdict.decided:
        return ""
    text = f"The largest possible rise is {100 * room.rise:.1f} points, the largest fall {100 * room.fall:.1f}."
    still = not (comparison.shares["better"] or comparison.shares["worse"] or room.finds_rise or room.finds_fall)
    if comparison.decision.these_tasks or still:  # whose test has another power, or nothing shows how scores vary
        return text
    return f"{text} At 80 % power this design detects {rise_and_fall(room.finds_rise, room.finds_fall)}."


def loss_sentence(comparison: Comparison) -> str:
    """Count the runs lost in each arm, and those that the agent did not complete."""
    parts = []
    for label, arm in ((comparison.label_a, comparison.loss.a), (comparison.label_b, comparison.loss.b)):
        text = f"{label} {arm.lost} of {arm.planned} ({percent(arm.share)})"
        if arm.ended:
            zeros = f", {arm.without_reward} of them without a reward, as 0" if arm.without_reward else ""
            text += f"; {counted(arm.ended, 'run')} ended by the agent's own limits and counted{zeros}"
        parts.append(text)
    return f"Lost runs: {'. '.join(parts)}."


def interval_name(comparison: Comparison) -> str:
    """95 % interval."""
    return f"{100 * comparison.confidence:.3g} % interval"


def verdict_sentence(comparison: Comparison) -> str:
    """State the answer and its evidence in a few sentences."""
    return " ".join(filter(None, [headroom_sentence(comparison), answer(comparison), *reasons(comparison)]))

"""What else differs between the arms? Models, agents, images, scoring, limits, tasks: one sentence each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from harness.compare.wording import some
from harness.models import EvalResult

Arms = tuple[tuple[str, Sequence[EvalResult]], tuple[str, Sequence[EvalResult]]]


class Condition(NamedTuple):
    """Something that should be the same in both arms."""

    name: str
    of: Callable[[EvalResult], object]
    """Its value for a run; None or empty when not recorded."""
    cure: str
    shown: bool = True
    """Whether its values mean something to a reader."""


CONDITIONS = (
    Condition("agent", lambda r: r.conditions.agent, "run both arms with one agent"),
    Condition(
        "agent version",
        lambda r: r.conditions.agent_version or r.claude_code_version,
        "run both arms with one version",
    ),
    Condition(
        "configuration of the agent",
        lambda r: r.conditions.agent_settings,
        "hold the agents in the jobs' config.json against each other",
        shown=False,
    ),
    Condition("base image", lambda r: r.conditions.base_image, "generate one task set for both arms"),
    Condition("scoring", lambda r: r.conditions.scoring, "the rewards measure two things: score both arms in one way"),
    Condition(
        "scoring version",
        lambda r: r.conditions.scoring_version,
        "rewards of two versions cannot be compared: run the older arm again",
    ),
    Condition("verifier mode", lambda r: r.conditions.verifier_mode, "run both arms with one mode"),
    Condition("agent's time limit (s)", lambda r: r.conditions.agent_timeout_seconds, "run both arms with one limit"),
    Condition("number of CPUs", lambda r: r.conditions.cpus, "run both arms with one limit"),
    Condition("memory limit (MB)", lambda r: r.conditions.memory_mb, "run both arms with one limit"),
)
"""Compared task by task: a limit that differs between tasks is no difference between arms."""


def confounds(arms: Arms) -> Iterator[str]:
    """Yield a sentence for everything that differs between the arms, except what each was offered."""
    (_, a), (_, b) = arms
    yield from _models(a, b)
    for condition in CONDITIONS:
        of_a, of_b = _by_task(a, condition.of), _by_task(b, condition.of)
        changed = [task for task in sorted(of_a.keys() & of_b.keys()) if of_a[task] != of_b[task]]
        if changed:
            values = f": {_against(_all(of_a, changed), _all(of_b, changed))}" if condition.shown else ""
            where = "" if len(changed) == len(of_a.keys() & of_b.keys()) else f" for {some(changed)}"
            yield f"The {condition.name} differs between the arms{where}{values}; {condition.cure}."
    yield from _judges(a, b)
    yield from _tasks(a, b)


def _models(a: Sequence[EvalResult], b: Sequence[EvalResult]) -> Iterator[str]:
    of_a, of_b = {r.model for r in a}, {r.model for r in b}
    if of_a and of_b and not of_a & of_b:
        yield (
            f"The model differs between the arms: {_against(of_a, of_b)}; unless the model is what you compare, "
            "run both arms with one."
        )


def _judges(a: Sequence[EvalResult], b: Sequence[EvalResult]) -> Iterator[str]:
    """Compare the judges of verifiers and of this harness, by model and by version of their prompt."""
    for name, at in (("judge model", 0), ("version of the judge's prompt", 1)):
        of_a, of_b = ({judge[at] for run in arm for judge in _judges_of(run) if judge[at]} for arm in (a, b))
        if of_a and of_b and of_a != of_b:
            yield (
                f"The {name} differs between the arms: {_against(of_a, of_b)}; two judges are two measures: judge "
                "both arms again with one (`grade --judge`)."
            )


def _judges_of(run: EvalResult) -> Iterator[tuple[str, str]]:
    """Yield the model and prompt version of every judge whose grade counts in the run's score."""
    for grade in run.grades:
        if grade.weight == 0:
            continue
        if grade.judge:
            yield grade.judge.model, grade.judge.version
        if grade.verifier and grade.verifier.judge:
            yield grade.verifier.judge.model, grade.verifier.judge.version


def _tasks(a: Sequence[EvalResult], b: Sequence[EvalResult]) -> Iterator[str]:
    """Name the tasks whose content differs; the servers that they offer are ignored where possible."""
    whole_a, whole_b = (_by_task(arm, lambda r: r.fingerprints.task) for arm in (a, b))
    content_a, content_b = (_by_task(arm, lambda r: r.fingerprints.task_content) for arm in (a, b))
    changed = []
    for task in sorted(whole_a.keys() & whole_b.keys()):
        told = task in content_a and task in content_b
        before, after = (content_a, content_b) if told else (whole_a, whole_b)
        if whole_a[task] != whole_b[task] and before[task] != after[task]:
            changed.append(task)
    if changed:
        yield (
            f"The content of these tasks differs between the arms: {some(changed)}; "
            "run both arms on one task set (a server can be given with `harbor run --mcp-config`)."
        )


def _by_task(results: Sequence[EvalResult], of: Callable[[EvalResult], object]) -> dict[str, set[object]]:
    values: dict[str, set[object]] = defaultdict(set)
    for result in results:
        if value := of(result):
            values[result.task_id].add(value)
    return values


def _all(values: Mapping[str, set[object]], tasks: Sequence[str]) -> set[object]:
    return {value for task in tasks for value in values[task]}


def _against(a: set[str] | set[object], b: set[str] | set[object]) -> str:
    return f"{some(sorted(map(_text, a)))} against {some(sorted(map(_text, b)))}"


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)

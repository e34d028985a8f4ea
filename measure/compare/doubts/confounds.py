"""What else differs between the arms than the treatment, and was that used? One sentence for each reason to doubt."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from measure.compare.doubts.loss import Arms
from measure.compare.metrics import with_calls
from measure.compare.wording import some
from measure.records import EvalResult

SELDOM_USED = 0.5
"""If a smaller share of runs used the treatment, the reader is told."""


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
    models_a, models_b = ({run.model for run in arm} for arm in (a, b))
    if models_a and models_b and not models_a & models_b:
        cure = "unless the model is what you compare, run both arms with one"
        yield f"The model differs between the arms: {_against(models_a, models_b)}; {cure}."
    for condition in CONDITIONS:
        of_a, of_b = _by_task(a, condition.of), _by_task(b, condition.of)
        both = sorted(of_a.keys() & of_b.keys())
        changed = [task for task in both if of_a[task] != of_b[task]]
        if changed:
            sides = ({value for task in changed for value in of_arm[task]} for of_arm in (of_a, of_b))
            values = f": {_against(*sides)}" if condition.shown else ""
            where = "" if changed == both else f" for {some(changed)}"
            yield f"The {condition.name} differs between the arms{where}{values}; {condition.cure}."
    for name, at in (("judge model", 0), ("version of the judge's prompt", 1)):
        judges_a, judges_b = ({judge[at] for run in arm for judge in _judges_of(run) if judge[at]} for arm in (a, b))
        if judges_a and judges_b and judges_a != judges_b:
            yield (
                f"The {name} differs between the arms: {_against(judges_a, judges_b)}; two judges are two measures: "
                "judge both arms again with one (`grade --judge` for Harbor jobs)."
            )
    if tasks := _changed_tasks(a, b):
        yield (
            f"The content of these tasks differs between the arms: {some(tasks)}; "
            "run both arms on one task set (a server can be given with `harbor run --mcp-config`)."
        )


def _judges_of(run: EvalResult) -> Iterator[tuple[str, str]]:
    """Yield the model and prompt version of every judge, a verifier's too, whose grade counts in the run's score."""
    for grade in run.grades:
        for judge in (grade.judge, grade.verifier and grade.verifier.judge):
            if judge and grade.weight != 0:
                yield judge.model, judge.version


def _changed_tasks(a: Sequence[EvalResult], b: Sequence[EvalResult]) -> list[str]:
    """Return the tasks whose content differs; the servers that they offer are ignored where possible."""
    whole_a, whole_b = (_by_task(arm, lambda r: r.fingerprints.task) for arm in (a, b))
    content_a, content_b = (_by_task(arm, lambda r: r.fingerprints.task_content) for arm in (a, b))
    return [
        task
        for task in sorted(whole_a.keys() & whole_b.keys())
        if whole_a[task] != whole_b[task] and not (task in content_a and content_a[task] == content_b.get(task))
    ]


def _by_task(results: Sequence[EvalResult], of: Callable[[EvalResult], object]) -> dict[str, set[object]]:
    values: dict[str, set[object]] = defaultdict(set)
    for result in results:
        if value := of(result):
            values[result.task_id].add(value)
    return dict(values)


def _against(*sides: Iterable[object]) -> str:
    return " against ".join(
        some(sorted(f"{value:g}" if isinstance(value, float) else str(value) for value in side)) for side in sides
    )


def unused_treatment(arms: Arms, treatment: Sequence[str]) -> Iterator[str]:
    """Yield sentences on tools and skills of B that its runs never used, seldom used, or may not have used.

    `treatment` names the tools that B is about, as glob patterns; by default, those that B was offered and A was not.
    """
    (_, a), (label, b) = arms
    runs, recorded = sum(run.measured for run in b), with_calls(b)
    unknown = f" (not recorded for {runs - len(recorded)} of {runs})" if len(recorded) < runs else ""
    tools = _treatment_tools(a, b, treatment)
    skills = [] if treatment else sorted(_offered(b, "skills") - _offered(a, "skills"))
    for kind, names, uses in (("tool", tools, _calls), ("skill", skills, _uses_skill)):
        if not names or not runs:
            continue
        what = f"the {kind} {some(names)}"
        users = [run for run in recorded if any(uses(run, name) for name in names)]
        used = len(users)
        if kind == "tool":
            yield from _failed_calls(label, what, users, names)
        if not used and kind == "tool" and not all(run.trace.names_servers for run in recorded):
            yield (
                f"Whether {label} used {what} is not recorded: its agent may record such calls like those of its own "
                "tools, or make them in a shell; read a few trajectories before you call the difference its effect."
            )
        elif not recorded:
            yield (
                f"Whether {label} used {what} is not recorded: no run left a trajectory; "
                "use an agent that writes one before you call the difference its effect."
            )
        elif not used:
            whose = f"none of the {len(recorded)} runs with a trajectory" if unknown else "no run"
            yield (
                f"The treatment was never used: {whose} of {label} called {what}, "
                f"so the difference cannot be its effect{unknown}; look whether the agent could reach it."
            )
        elif used < SELDOM_USED * len(recorded):
            yield (
                f"Only {used} of {len(recorded)} runs of {label} used {what}{unknown}; "
                "the difference is that of being offered it, not of using it."
            )


def _failed_calls(label: str, what: str, users: Sequence[EvalResult], names: Sequence[str]) -> Iterator[str]:
    """Yield a sentence if most calls of the treatment failed: a server that answers with errors is no treatment."""
    calls = [c for run in users for c in run.trace.tool_calls if any(fnmatchcase(c.name, name) for name in names)]
    failed = [call for call in calls if call.error is not None]
    if len(failed) > SELDOM_USED * len(calls):
        share = f"all {len(calls)} calls" if len(failed) == len(calls) else f"{len(failed)} of {len(calls)} calls"
        said = " ".join((failed[0].error or "").split())[:80]
        never = ", so the treatment never worked" if len(failed) == len(calls) else ""
        yield f"{label}: {share} of {what} failed{never} ({said!r}); look at the server and its login."


def treatment_in_baseline(arms: Arms, treatment: Sequence[str]) -> Iterator[str]:
    """Yield a sentence if runs of A called the treatment too, with the number of such runs in each arm.

    `treatment` is as in `unused_treatment`; if both arms were offered the same, it is the MCP servers that both called.
    """
    (label_a, a), (label_b, b) = arms
    tools, advice = _treatment_tools(a, b, treatment), "what is compared is more of it with less;"
    if not tools:
        tools = sorted(_called_servers(a) & _called_servers(b))
        advice = "if that is what B is about, say so with --treatment, and"
    recorded = [with_calls(arm) for arm in (a, b)]
    in_a, in_b = (sum(any(_calls(run, tool) for tool in tools) for run in arm) for arm in recorded)
    if in_a:
        yield (
            f"The baseline had the treatment: {some(tools)} was called in {in_a} of {len(recorded[0])} runs of "
            f"{label_a} and {in_b} of {len(recorded[1])} of {label_b}; {advice} offer it to {label_b} alone."
        )


def _called_servers(results: Sequence[EvalResult]) -> set[str]:
    """Return patterns for the MCP servers whose tools were called."""
    names = {call.name for run in results if run.measured for call in run.trace.tool_calls}
    return {f"mcp__{name.split('__')[1]}__*" for name in names if name.startswith("mcp__")}


def _treatment_tools(a: Sequence[EvalResult], b: Sequence[EvalResult], treatment: Sequence[str]) -> list[str]:
    """Return the tools that B is about, as patterns: those named, else those offered to B's runs but not to A's."""
    tools = list(treatment) or sorted(_offered(b, "tools") - _offered(a, "tools"))
    if not tools:  # Harbor records servers, not their tools
        tools = [f"mcp__{name}__*" for name in sorted(_offered(b, "servers") - _offered(a, "servers"))]
    return tools


def _offered(results: Sequence[EvalResult], kind: str) -> set[str]:
    return {name for result in results for name in getattr(result.trace.offered, kind) or ()}


def _calls(result: EvalResult, pattern: str) -> bool:
    return any(fnmatchcase(call.name, pattern) for call in result.trace.tool_calls)


def _uses_skill(result: EvalResult, name: str) -> bool:
    """Return whether a run loaded a skill; Harbor's agents without a tool for that read its files."""
    return any(
        call.input.get("skill") == name or (call.name == "Skill" and name in map(str, call.input.values()))
        for call in result.trace.tool_calls
    )

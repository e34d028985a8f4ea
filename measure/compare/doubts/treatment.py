"""Was the treatment used, did it work, and did the baseline have it too? One sentence for each reason to doubt."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from measure.compare.pairing import Arms
from measure.records import EvalResult
from measure.summary.metrics import with_calls
from measure.summary.wording import some

SELDOM_USED = 0.5
"""A smaller share of runs that used the treatment is worth a warning."""


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
        alike = _named_otherwise(recorded, names)
        anonymous = kind == "tool" and not all(run.trace.names_servers for run in recorded)
        if not recorded or (not used and not alike and anonymous):
            why = "its agent records such calls like those of its own tools" if recorded else "no run left a trajectory"
            yield (
                f"Whether {label} used {what} is not recorded: {why}; look at what a few runs did before you call the "
                "difference its effect."
            )
        elif not used and alike:
            yield (
                f"No run of {label} called {what} by that name, but runs called {some(alike)}; if that is the "
                "treatment, name it with --treatment."
            )
        elif not used:
            whose = f"none of the {len(recorded)} runs with a trajectory" if unknown else "no run"
            yield (
                f"The treatment was never used: {whose} of {label} called {what}, "
                f"so the difference cannot be its effect{unknown}; check that the agent could reach it."
            )
        elif used < SELDOM_USED * len(recorded):
            yield (
                f"Only {used} of {len(recorded)} runs of {label} used {what}{unknown}; "
                "the difference shows what offering it does, not what using it does."
            )


def _named_otherwise(runs: Sequence[EvalResult], patterns: Sequence[str]) -> list[str]:
    """Return called tools that have a server of `patterns` in their name: agents name tools differently."""
    servers = {_letters(pattern.split("__")[1]) for pattern in patterns if pattern.startswith("mcp__")} - {""}
    called = {call.name for run in runs for call in run.trace.tool_calls}
    return sorted(name for name in called if any(server in _letters(name) for server in servers))


def _letters(name: str) -> str:
    return re.sub(r"[\W_]", "", name).casefold()


def _failed_calls(label: str, what: str, users: Sequence[EvalResult], names: Sequence[str]) -> Iterator[str]:
    """Yield a sentence if most calls of the treatment failed: a server that answers with errors is no treatment."""
    calls = [c for run in users for c in run.trace.tool_calls if any(fnmatchcase(c.name, name) for name in names)]
    failed = [call for call in calls if call.error is not None]
    if len(failed) > SELDOM_USED * len(calls):
        share = f"all {len(calls)} calls" if len(failed) == len(calls) else f"{len(failed)} of {len(calls)} calls"
        said = " ".join((failed[0].error or "").split())[:80]
        never = ", so the treatment never worked" if len(failed) == len(calls) else ""
        yield f"{label}: {share} of {what} failed{never} ({said!r}); check the server and its login."


def treatment_in_baseline(arms: Arms, treatment: Sequence[str]) -> Iterator[str]:
    """Yield a sentence if runs of A called the treatment too, with the number of such runs in each arm.

    `treatment` is as in `unused_treatment`; if both arms were offered the same, it is the MCP servers that both called.
    """
    (label_a, a), (label_b, b) = arms
    tools, advice = _treatment_tools(a, b, treatment), "this compares more of it with less;"
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


def no_way_to_the_code(arms: Arms) -> Iterator[str]:
    """Yield a sentence for an arm that has neither the code nor a server, while the other has the code."""
    for (label, arm), (other, at_hand) in (arms, arms[::-1]):
        cut_off = [run for run in arm if run.conditions.closed_book and run.trace.offered.servers == {}]
        if cut_off and any(run.conditions.closed_book is False for run in at_hand):
            yield (
                f"{label} had neither the code nor a server in {len(cut_off)} of {len(arm)} runs, and {other} had the "
                "code; give its tasks a server with `run_adapter.py --remote_output_dir` and `--mcp_config`."
            )


def fetched_code(arms: Arms) -> Iterator[str]:
    """Yield a sentence for each arm whose runs got something from outside of their tasks, where answers may be, too."""
    for label, results in arms:
        found = [{call.fetched for call in run.trace.tool_calls} - {""} for run in with_calls(results)]
        if any(found):
            yield (
                f"{label}: {sum(map(bool, found))} of {len(found)} runs got something from outside of the task "
                f"({some(sorted(what[:60] for what in set().union(*found)))}), where the code may be, and its answers; "
                "look at what they got, or ask about code that is not public."
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

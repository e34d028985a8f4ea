"""Was the treatment used? Compares what B was offered beyond A with what its runs called."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from harness.compare.wording import some
from harness.models import EvalResult

SELDOM_USED = 0.5
"""If a smaller share of runs used the treatment, the reader is told."""


def unused_treatment(
    label: str, a: Sequence[EvalResult], b: Sequence[EvalResult], treatment: Sequence[str]
) -> Iterator[str]:
    """Yield sentences on tools and skills of B that its runs never used, seldom used, or may not have used.

    Args:
        label: B's name.
        a: runs of A.
        b: runs of B.
        treatment: the tools that B is about, as glob patterns; by default, those that B was offered and A was not.
    """
    runs = [run for run in b if run.measured]
    if not runs:
        return
    tools = treatment_tools(a, b, treatment)
    skills = [] if treatment else sorted(_offered(b, "skills") - _offered(a, "skills"))
    recorded = [run for run in runs if run.trace.tool_count is not None]
    for kind, names, used in (
        ("tool", tools, [any(_calls(run, pattern) for pattern in tools) for run in recorded]),
        ("skill", skills, [any(_uses_skill(run, name) for name in skills) for run in recorded]),
    ):
        if not names:
            continue
        if not recorded:
            yield (
                f"Whether {label} used the {kind} {some(names)} is not recorded: no run left a trajectory; "
                "use an agent that writes one before you call the difference its effect."
            )
        elif not any(used):
            missing = _unrecorded(len(runs) - len(recorded), len(runs))
            whose = "no run" if not missing else f"none of the {len(recorded)} runs with a trajectory"
            yield (
                f"The treatment was never used: {whose} of {label} called the {kind} {some(names)}, "
                f"so the difference cannot be its effect{missing}; look whether the agent could reach it."
            )
        elif sum(used) < SELDOM_USED * len(recorded):
            missing = _unrecorded(len(runs) - len(recorded), len(runs))
            yield (
                f"Only {sum(used)} of {len(recorded)} runs of {label} used the {kind} {some(names)}{missing}; "
                "the difference is that of being offered it, not of using it."
            )


def treatment_in_baseline(
    labels: tuple[str, str], a: Sequence[EvalResult], b: Sequence[EvalResult], treatment: Sequence[str]
) -> Iterator[str]:
    """Yield a sentence if runs of A called the treatment too, with the number of such runs in each arm.

    Args:
        labels: names of A and B.
        a: runs of A.
        b: runs of B.
        treatment: as in `unused_treatment`; if both arms were offered the same, the MCP servers that both called.
    """
    tools = treatment_tools(a, b, treatment)
    guessed = not tools
    if guessed:
        tools = sorted(_called_servers(a) & _called_servers(b))
    if not tools:
        return
    counts = []
    for runs in (a, b):
        recorded = [run for run in runs if run.measured and run.trace.tool_count is not None]
        counts.append((sum(any(_calls(run, pattern) for pattern in tools) for run in recorded), len(recorded)))
    (in_a, runs_a), (in_b, runs_b) = counts
    if in_a:
        what = (
            "if that is what B is about, say so with --treatment, and"
            if guessed
            else "what is compared is more of it with less;"
        )
        yield (
            f"The baseline had the treatment: {some(tools)} was called in {in_a} of {runs_a} runs of {labels[0]} and "
            f"{in_b} of {runs_b} of {labels[1]}; {what} offer it to {labels[1]} alone."
        )


def _called_servers(results: Sequence[EvalResult]) -> set[str]:
    """Return patterns for the MCP servers whose tools were called."""
    names = {call.name for run in results if run.measured for call in run.trace.tool_calls}
    return {f"mcp__{name.split('__')[1]}__*" for name in names if name.startswith("mcp__")}


def _unrecorded(missing: int, runs: int) -> str:
    return f" (not recorded for {missing} of {runs})" if missing else ""


def treatment_tools(a: Sequence[EvalResult], b: Sequence[EvalResult], treatment: Sequence[str] = ()) -> list[str]:
    """Return the tools that B is about, as patterns: those named, else those offered to B's runs but not to A's."""
    tools = list(treatment) or sorted(_offered(b, "tools") - _offered(a, "tools"))
    if not tools:  # Harbor records servers, not their tools
        tools = [f"mcp__{name}__*" for name in sorted(_offered(b, "servers") - _offered(a, "servers"))]
    return tools


def _offered(results: Sequence[EvalResult], kind: str) -> set[str]:
    offered: set[str] = set()
    for result in results:
        offered |= set(getattr(result.trace.offered, kind) or ())
    return offered


def _calls(result: EvalResult, pattern: str) -> bool:
    return any(fnmatchcase(call.name, pattern) for call in result.trace.tool_calls)


def _uses_skill(result: EvalResult, name: str) -> bool:
    return any(call.name == "Skill" and name in map(str, call.input.values()) for call in result.trace.tool_calls)

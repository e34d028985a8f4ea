"""What else differs between the arms than the treatment? One sentence for each difference."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from measure.compare.pairing import Arms
from measure.records import EvalResult, JudgeRecord
from measure.summary.wording import some

SAME = "run both arms with the same"
ONE_JUDGE = "two judges are two measures: judge both arms again with one (`grade --judge` for Harbor jobs)"
OLD_REWARDS = "rewards of two versions cannot be compared: run the older arm again"
SETTINGS = "configuration of the agent"
"""Recorded as a hash, which tells a reader nothing."""

CONDITIONS: dict[str, tuple[Callable[[EvalResult], object], str]] = {
    "agent": (lambda r: r.conditions.agent, SAME),
    "agent version": (lambda r: r.conditions.agent_version or r.claude_code_version, SAME),
    SETTINGS: (lambda r: r.conditions.agent_settings, "compare the agents in the jobs' config.json"),
    "base image": (lambda r: r.conditions.base_image, "generate one task set for both arms"),
    "scoring": (lambda r: r.conditions.scoring, "the rewards measure two things: score both arms in one way"),
    "scoring version": (lambda r: r.conditions.scoring_version, OLD_REWARDS),
    "judge model": (lambda r: " + ".join(sorted(judge.model for judge in _judges(r))), ONE_JUDGE),
    "version of the judge's prompt": (lambda r: " + ".join(sorted(judge.version for judge in _judges(r))), ONE_JUDGE),
    "verifier mode": (lambda r: r.conditions.verifier_mode, SAME),
    "agent's time limit (s)": (lambda r: r.conditions.agent_timeout_seconds, SAME),
    "number of CPUs": (lambda r: r.conditions.cpus, SAME),
    "memory limit (MB)": (lambda r: r.conditions.memory_mb, SAME),
}
"""What should be the same in both arms: its value for a run, empty when not recorded, and what to do if it is not.

Compared task by task: a limit that differs between tasks is no difference between arms.
"""


def confounds(arms: Arms) -> Iterator[str]:
    """Yield a sentence for everything that differs between the arms, except what each was offered."""
    (_, a), (_, b) = arms
    models_a, models_b = ({run.model for run in arm} for arm in (a, b))
    if models_a and models_b and not models_a & models_b:
        cure = "unless the model is what you compare, run both arms with one"
        yield f"The model differs between the arms: {_against(models_a, models_b)}; {cure}."
    for name, (value_of, cure) in CONDITIONS.items():
        of_a, of_b = _by_task(a, value_of), _by_task(b, value_of)
        both = sorted(of_a.keys() & of_b.keys())
        changed = [task for task in both if of_a[task] != of_b[task]]
        if changed:
            sides = ({value for task in changed for value in of_arm[task]} for of_arm in (of_a, of_b))
            values = "" if name == SETTINGS else f": {_against(*sides)}"
            where = "" if changed == both else f" for {some(changed)}"
            yield f"The {name} differs between the arms{where}{values}; {cure}."
    if tasks := _changed_tasks(a, b):
        yield (
            f"The content of these tasks differs between the arms: {some(tasks)}; "
            "run both arms on one task set (a server can be given with `harbor run --mcp-config`)."
        )


def _judges(run: EvalResult) -> list[JudgeRecord]:
    """Return every judge whose grade counts in the run's score."""
    return [grade.judge for grade in run.grades if grade.judge and grade.weight != 0]


def _changed_tasks(a: Sequence[EvalResult], b: Sequence[EvalResult]) -> list[str]:
    """Return the tasks whose content differs; the servers that they offer are ignored where possible."""
    whole_a, whole_b = (_by_task(arm, lambda r: r.fingerprints.task) for arm in (a, b))
    content_a, content_b = (_by_task(arm, lambda r: r.fingerprints.task_content) for arm in (a, b))
    # Without the code in the container the files differ; what the generator made them from does not.
    made_a, made_b = (_by_task(arm, lambda r: r.fingerprints.task_generated) for arm in (a, b))
    closed_a, closed_b = ({r.task_id for r in arm if r.conditions.closed_book} for arm in (a, b))
    return [
        task
        for task in sorted(whole_a.keys() & whole_b.keys())
        if whole_a[task] != whole_b[task]
        and not (task in content_a and content_a[task] == content_b.get(task))
        and not (task in closed_a ^ closed_b and task in made_a and made_a[task] == made_b.get(task))
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

#!/usr/bin/env python3
"""Select tasks: those where code search should matter most, or those on which a pilot showed that it can.

Edit the constants below, or set them from Python. Flags override both.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from locobench.dataset.catalog import DIFFICULTIES, language_name, load_languages
from locobench.selection.criteria import Criteria
from locobench.shared.claim import claim_beforehand
from locobench.shared.command_line import COUNT, DONE, NOTHING_DONE, PATH, Choice, option, script
from locobench.shared.errors import InputError
from locobench.shared.files import check_output, write_whole
from locobench.shared.installation import EXTRACT
from locobench.shared.terminal import complain, say

if TYPE_CHECKING:
    from locobench.selection.candidates import Candidate, Pilot
    from locobench.selection.select import Selection

MIN_CONTEXT_LENGTH = 50_000
"""In characters, not tokens; a task needs strictly more to pass."""
MIN_FILES_COUNT = 5
"""Context files; a task needs strictly more to pass."""
TOP_N = 50

CONTEXT_WEIGHT, FILES_WEIGHT, CATEGORY_WEIGHT = 0.3, 0.3, 0.4
"""Weights of the parts of the score; they sum to 1."""

CATEGORY_BONUSES = {
    "architectural_understanding": 1.0,
    "cross_file_refactoring": 0.9,
    "bug_investigation": 0.8,
    "security_analysis": 0.7,
    "feature_implementation": 0.5,
    "code_comprehension": 0.4,
    "integration_testing": 0.3,
    "multi_session_development": 0.3,
}
"""Expected gain of each category from code search, 0 to 1, as in the published selection."""

ROW = "{:>4}  {:>6}  {:<27}  {}"
"""A line of the summary."""
DIFFICULTY = Choice(DIFFICULTIES, case_sensitive=False)


def default_criteria(**changes: Any) -> Criteria:
    """Return the criteria that the constants say at this moment, with `changes`."""
    weights = (CONTEXT_WEIGHT, FILES_WEIGHT, CATEGORY_WEIGHT)
    return replace(Criteria(MIN_CONTEXT_LENGTH, MIN_FILES_COUNT, TOP_N, *weights, CATEGORY_BONUSES), **changes)


@script("Select the tasks where code search should matter most. context_length counts characters of text, not tokens.")
@option("--dataset_path", type=PATH, default="locobench_dataset.jsonl", help=f"JSONL written by {EXTRACT}.")
@option("--output", type=PATH, default="selected_tasks.json", help="JSON file to write.")
@option("--min_context_length", type=COUNT, help=f"Characters; tasks with more pass (default: {MIN_CONTEXT_LENGTH}).")
@option("--min_files_count", type=COUNT, help=f"Context files; tasks with more pass (default: {MIN_FILES_COUNT}).")
@option("--top_n", type=COUNT, help=f"Number of tasks to select (default: {TOP_N}).")
@option(
    "--context_weight", type=float, help=f"Weight of the context's length in the score (default: {CONTEXT_WEIGHT})."
)
@option("--files_weight", type=float, help=f"Weight of the number of files in the score (default: {FILES_WEIGHT}).")
@option(
    "--category_weight", type=float, help=f"Weight of the category's bonus in the score (default: {CATEGORY_WEIGHT})."
)
@option("--categories", multiple=True, metavar="NAME ...", help="Categories to keep (default: all).")
@option("--languages", multiple=True, metavar="NAME ...", help="Languages to keep (default: all).")
@option("--difficulties", multiple=True, type=DIFFICULTY, help="Difficulties to keep (default: all).")
@option(
    "--pilot", type=PATH, multiple=True, metavar="JOB ...",
    help="Runs of your own agent, a job for each arm: tasks at its ceiling or floor come last.",
)  # fmt: skip
@option("--quiet", is_flag=True, help="No summary.")
def main(
    dataset_path: Path,
    output: Path,
    pilot: tuple[Path, ...],
    quiet: bool,
    **flags: Any,
) -> int:
    """Run the command; the exit code is 1 if nothing was selected."""
    from locobench.selection.candidates import read_candidates, with_pilot
    from locobench.selection.select import select

    chosen = override(default_criteria(), flags)
    check_output(output, [dataset_path])
    tasks = read_candidates(dataset_path)
    if pilot:
        arms = {job: read_runs(job) for job in pilot}
        tasks = with_pilot(tasks, arms)
        if len(arms) == 1:
            complain(
                f"{pilot[0]}: tasks chosen where one arm has room favour another that fails elsewhere; with a job for"
                " each arm (--pilot A B), none is favoured"
            )
        for job in [job for job, arm in arms.items() if not all(found.runs for found in arm.values())]:
            complain(f"{job}: its runs have no ids, so `compare` cannot leave them out; do not give it these runs")
    check_filters(chosen, tasks)
    selection = select(tasks, chosen)
    write_whole(output, json.dumps(selection.as_json(), indent=2) + "\n")
    if not selection.selected:
        complain(
            f"{output}: no task selected, {len(selection.passed)} of {selection.total} pass; lower --min_context_length"
            " or --min_files_count, or widen the filters"
        )
        return NOTHING_DONE
    if not quiet:
        print_summary(selection)
        say(f"{len(selection.selected)} tasks written to {output}")
    return DONE


def read_runs(job: Path) -> dict[str, Pilot]:
    """Return what each task's measured runs in a job or results file earned, and the ids of all its runs."""
    from locobench.selection.candidates import Pilot, registry_name
    from measure.results.sources import load_source
    from measure.summary.metrics import by_task, mean_of_known

    found = {}
    for task, runs in by_task(load_source(job)).items():
        mean = mean_of_known(run.overall_score for run in runs if run.measured)
        if mean is not None:
            found[registry_name(task)] = Pilot(mean, tuple(sorted(run.run_id for run in runs if run.run_id)))
    return found


def override(criteria: Criteria, flags: dict[str, Any]) -> Criteria:
    """Return the criteria with the flags that were given in their place; names may be typed in capitals."""
    criteria = replace(criteria, **{name: value for name, value in flags.items() if value not in (None, ())})
    criteria.check()
    return replace(
        criteria,
        categories=criteria.categories and [name.lower() for name in criteria.categories],
        languages=criteria.languages and [language_name(name) for name in criteria.languages],
    )


def check_filters(criteria: Criteria, tasks: Iterable[Candidate]) -> None:
    """Raise InputError if a filter names a value that neither the dataset nor this project knows: a typo."""
    for name, known, kind in (
        ("categories", {*criteria.category_bonuses}, "task_category"),
        ("languages", {*load_languages()}, "language"),
    ):
        known |= {getattr(task, kind) for task in tasks}
        if unknown := sorted({*(getattr(criteria, name) or ())} - known):
            raise InputError(f"{name}: {unknown[0]!r:.60} is unknown, known are {', '.join(sorted(known))}")


def print_summary(selection: Selection) -> None:
    """Print the ranked tasks and their counts."""
    say(f"{selection.total} tasks, {len(selection.passed)} pass, {len(selection.selected)} selected")
    balanced = selection.nearly_same is not None
    say(ROW.format("rank", "pilot" if balanced else "score", "kind", "task"))
    for rank, (score, task) in enumerate(selection.selected, 1):
        pilot = f"{task.pilot.mean:.4f}" if task.pilot else "-"
        say(ROW.format(rank, pilot if balanced else f"{score:.4f}", task.kind, task.id))
    if balanced:
        say(f"Control group: {selection.controls}; left out as nearly the same as another: {selection.nearly_same}")
    for name, counts in selection.counts.items():
        say(f"By {name}: " + ", ".join(f"{key} {number}" for key, number in counts.most_common()))
    if repositories := {task.repository for _, task in selection.selected} - {""}:
        say(claim_beforehand(len(repositories)))


if __name__ == "__main__":
    main()

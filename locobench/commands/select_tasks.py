"""Select the tasks where code search should matter most: thresholds, a weighted score, the top N."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import fields, replace
from functools import partial
from pathlib import Path

from locobench.commands import cli
from locobench.dataset.catalog import DIFFICULTIES, LANGUAGES
from locobench.selection.criteria import SCORE_PARTS, Candidate, Criteria
from locobench.selection.select import SCORE_DIGITS, Selection, select
from locobench.shared.claim import claim_beforehand
from locobench.shared.errors import InputError
from locobench.shared.installation import EXTRACT, GENERATE


def print_summary(selection: Selection) -> None:
    """Print the ranked tasks and their counts."""
    cli.say(f"{selection.total} tasks, {len(selection.passed)} pass, {len(selection.selected)} selected")
    cli.say(f"{'rank':>4}  {'score':>6}  {'characters':>10}  {'files':>5}  task")
    for rank, (score, task) in enumerate(selection.selected, 1):
        cli.say(f"{rank:>4}  {score:.{SCORE_DIGITS}f}  {task.context_length:>10,}  {task.files_count:>5}  {task.id}")
    for name in ("task_category", "language", "difficulty"):
        counts = Counter(getattr(task, name) for _, task in selection.selected)
        cli.say(f"By {name}: " + ", ".join(f"{key} {number}" for key, number in counts.most_common()))
    if repositories := {task.repository for _, task in selection.selected} - {""}:
        cli.say(claim_beforehand(len(repositories)))


def build_parser() -> cli.Parser:
    """Return the argument parser."""
    parser = cli.Parser(
        "Select the tasks where code search should matter most. context_length counts characters of text, not tokens."
    )
    default = Criteria()
    parser.flag("dataset_path", type=Path, default=cli.DATASET_FILE, help=f"JSONL written by {EXTRACT}")
    parser.flag("output", type=Path, default=cli.SELECTION_FILE, help="JSON file to write")
    criteria = "thresholds, [weights], [category_bonuses] as TOML (docs/TASK_SELECTION_CRITERIA.md); flags override it"
    parser.flag("criteria", type=Path, metavar="FILE", help=criteria)
    least = f"characters (not tokens) of context; tasks with strictly more pass (default: {default.min_context_length})"
    parser.flag("min_context_length", type=cli.count, help=least)
    least = f"context files; tasks with strictly more pass (default: {default.min_files_count})"
    parser.flag("min_files_count", type=cli.count, help=least)
    parser.flag("top_n", type=cli.count, help=f"number of tasks to select (default: {default.top_n})")
    for name, part in SCORE_PARTS.items():
        parser.flag(
            f"{name}_weight",
            type=float,
            help=f"weight of the {name} part of the score; the weights sum to 1 (default: {part.weight})",
        )
    parser.flag("categories", nargs="+", metavar="NAME", help="categories to keep (default: all)")
    parser.flag("languages", nargs="+", metavar="NAME", help="languages to keep (default: all)")
    parser.flag(
        "difficulties",
        nargs="+",
        choices=DIFFICULTIES,
        metavar="NAME",
        help=f"difficulties to keep, of: {', '.join(DIFFICULTIES)} (default: all)",
    )
    closed_book = f"job folder of Harbor, run on tasks of {GENERATE} --closed_book"
    parser.flag("closed_book", type=Path, metavar="JOB", help=closed_book)
    parser.flag("max_closed", type=float, help="with --closed_book: leave out tasks that earn more than this (0 to 1)")
    parser.flag("quiet", action="store_true", help="no summary")
    return parser


def main(argv: list[str] | None) -> int:
    """Run the command and return the exit code: 0 done, 1 nothing was selected. InputError means 2."""
    parser = build_parser()
    options = parser.parse_args(argv)
    criteria = read_criteria(options)
    if criteria.max_closed is not None and options.closed_book is None:
        parser.error("--max_closed needs --closed_book")
    from locobench.selection.read import read_candidates
    from locobench.shared.files import check_output, write_whole

    check_output(options.output, [path for path in (options.dataset_path, options.criteria) if path])
    tasks = read_candidates(options.dataset_path)
    if options.closed_book:
        from locobench.selection.closed_book import with_closed_rewards

        tasks = with_closed_rewards(tasks, options.closed_book)
    check_filters(criteria, tasks)
    selection = select(tasks, criteria)
    write_whole(options.output, json.dumps(selection.as_json(), indent=2) + "\n")
    if not selection.selected:
        cli.complain(f"{options.output}: no task selected, of {selection.total}; {way_out(selection)}")
        return cli.NOTHING_DONE
    unknown = sum(task.closed_reward is None for _, task in selection.selected)
    if criteria.max_closed is not None and unknown:
        cli.complain(f"{options.closed_book}: says nothing of {unknown} of the selected tasks, which stay")
    if not options.quiet:
        print_summary(selection)
        cli.say(f"{len(selection.selected)} tasks written to {options.output}")
    return cli.DONE


def read_criteria(options: argparse.Namespace) -> Criteria:
    """Return the criteria: the flags override those of the --criteria file, which override the defaults."""
    criteria = Criteria.load(options.criteria) if options.criteria else Criteria()
    weights = {name: getattr(options, f"{name}_weight") for name in SCORE_PARTS}
    given = {field.name: getattr(options, field.name, None) for field in fields(Criteria)}
    given["weights"] = {**criteria.weights, **{name: value for name, value in weights.items() if value is not None}}
    criteria = replace(criteria, **{name: value for name, value in given.items() if value is not None})
    criteria.check()
    return criteria


def check_filters(criteria: Criteria, tasks: Iterable[Candidate]) -> None:
    """Raise InputError if a filter names a value that neither the dataset nor this project knows: a typo."""
    for name, known, kind in (
        ("categories", {*criteria.category_bonuses}, "task_category"),
        ("languages", {*LANGUAGES}, "language"),
    ):
        known |= {getattr(task, kind) for task in tasks}
        if unknown := sorted({*(getattr(criteria, name) or ())} - known):
            raise InputError(f"{name}: {unknown[0]!r:.60} is unknown, known are {', '.join(sorted(known))}")


def way_out(selection: Selection) -> str:
    """Say how to make an empty selection hold tasks."""
    if not selection.total:
        return f"the dataset is empty: write it again with {EXTRACT}"
    if selection.passed:
        return f"{len(selection.passed)} pass: raise --top_n"
    return "none passes: lower --min_context_length or --min_files_count, or widen the filters and other limits"


command = partial(cli.run, main)
"""Entry point for the checkout's script and the installed command."""

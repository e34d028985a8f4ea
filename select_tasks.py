#!/usr/bin/env python3
"""Select the tasks where code search should matter most: thresholds, a weighted score, the top N."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from dataclasses import fields
from pathlib import Path

from pipeline import cli
from pipeline.dataset.catalog import CATEGORIES, DIFFICULTIES, LANGUAGES
from pipeline.selection.select import SCORE_DIGITS, Criteria, Selection, select


def print_summary(selection: Selection) -> None:
    """Print the ranked tasks and their counts."""
    print(f"{selection.total} tasks, {len(selection.passed)} pass, {len(selection.selected)} selected")
    print(f"{'rank':>4}  {'score':>6}  {'characters':>10}  {'files':>5}  task")
    for rank, (score, task) in enumerate(selection.selected, 1):
        print(f"{rank:>4}  {score:.{SCORE_DIGITS}f}  {task.context_length:>10,}  {task.files_count:>5}  {task.id}")
    for name in ("task_category", "language", "difficulty"):
        counts = Counter(getattr(task, name) for _, task in selection.selected)
        print(f"By {name}: " + ", ".join(f"{key} {number}" for key, number in counts.most_common()))


def build_parser() -> cli.Parser:
    parser = cli.Parser(
        "Select the tasks where code search should matter most. context_length counts characters of text, not tokens."
    )
    default = Criteria()
    parser.flag("dataset_path", type=Path, default=cli.DATASET_FILE, help="JSONL written by extract_dataset.py")
    parser.flag("output", type=Path, default=cli.SELECTION_FILE, help="JSON file to write")
    parser.flag(
        "min_context_length",
        type=cli.count,
        default=default.min_context_length,
        help="characters (not tokens) of context; tasks with strictly more pass",
    )
    parser.flag(
        "min_files_count",
        type=cli.count,
        default=default.min_files_count,
        help="context files; tasks with strictly more pass",
    )
    parser.flag("top_n", type=cli.count, default=default.top_n, help="number of tasks to select")
    for part in ("context", "files", "category"):
        name = f"{part}_weight"
        parser.flag(
            name,
            type=float,
            default=getattr(default, name),
            help=f"weight of the {part} part; the three sum to 1",
        )
    for name, known in (("categories", CATEGORIES), ("languages", LANGUAGES), ("difficulties", DIFFICULTIES)):
        parser.flag(
            name,
            nargs="+",
            choices=known,
            metavar="NAME",
            help=f"{name} to keep, of: {', '.join(known)} (default: all)",
        )
    parser.flag("report", type=Path, metavar="FILE", help="HTML page to write as well")
    parser.flag("quiet", action="store_true", help="no summary")
    return parser


def main(argv: list[str] | None) -> int:
    options = build_parser().parse_args(argv)
    from common.files import check_output, whole_file
    from pipeline.selection.read import read_candidates

    check_output(options.output, [options.dataset_path])
    if options.report:
        check_output(options.report, [options.dataset_path, options.output])
    given = {field.name: getattr(options, field.name) for field in fields(Criteria)}
    criteria = Criteria(**{name: value for name, value in given.items() if value is not None})
    criteria.check()
    tasks = read_candidates(options.dataset_path)
    selection = select(tasks, criteria)
    contents = {options.output: json.dumps(selection.as_json(), indent=2).encode() + b"\n"}
    if options.report:
        from pipeline.selection.page import selection_page

        contents[options.report] = selection_page(tasks, selection, options.dataset_path.name)
    with contextlib.ExitStack() as files:
        for path, content in contents.items():
            files.enter_context(whole_file(path)).write(content)
    if not selection.selected:
        cli.complain(f"{options.output}: no task selected, of {selection.total}; {way_out(selection)}")
        return cli.NOTHING_DONE
    if not options.quiet:
        print_summary(selection)
        print(f"{len(selection.selected)} tasks written to {options.output}")
        if options.report:
            print(f"Report written to {options.report}")
    return cli.DONE


def way_out(selection: Selection) -> str:
    """Say what would make a selection that is empty hold tasks."""
    if not selection.total:
        return "the dataset is empty: write it again with extract_dataset.py"
    if selection.passed:
        return f"{len(selection.passed)} pass: raise --top_n"
    return "none passes: lower --min_context_length or --min_files_count, or widen the filters"


if __name__ == "__main__":
    cli.run(main)

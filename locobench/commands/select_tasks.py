"""Select the tasks where code search should matter most: thresholds, a weighted score, the top N."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from dataclasses import fields
from pathlib import Path
from typing import NoReturn

from locobench.commands import cli
from locobench.dataset.catalog import ALL_CATEGORIES, DIFFICULTIES, LANGUAGES
from locobench.selection.select import SCORE_DIGITS, Criteria, Selection, select


def print_summary(selection: Selection) -> None:
    """Print the ranked tasks and their counts."""
    cli.say(f"{selection.total} tasks, {len(selection.passed)} pass, {len(selection.selected)} selected")
    cli.say(f"{'rank':>4}  {'score':>6}  {'characters':>10}  {'files':>5}  task")
    for rank, (score, task) in enumerate(selection.selected, 1):
        cli.say(f"{rank:>4}  {score:.{SCORE_DIGITS}f}  {task.context_length:>10,}  {task.files_count:>5}  {task.id}")
    for name in ("task_category", "language", "difficulty"):
        counts = Counter(getattr(task, name) for _, task in selection.selected)
        cli.say(f"By {name}: " + ", ".join(f"{key} {number}" for key, number in counts.most_common()))


def build_parser() -> cli.Parser:
    """Return the parser of the flags."""
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
    for name, known in (("categories", ALL_CATEGORIES), ("languages", LANGUAGES), ("difficulties", DIFFICULTIES)):
        parser.flag(
            name,
            nargs="+",
            choices=known,
            metavar="NAME",
            help=f"{name} to keep, of: {', '.join(known)} (default: all)",
        )
    parser.flag(
        "closed_book",
        type=Path,
        metavar="JOB",
        help="job folder of Harbor, run on tasks of run_adapter.py --closed_book",
    )
    parser.flag(
        "max_closed",
        type=float,
        help="with --closed_book: tasks that earn more than this (0 to 1) without the code are left out",
    )
    parser.flag("open_book", type=Path, metavar="JOB", help="job folder of the same tasks with the code, to be shown")
    parser.flag("audit", type=Path, metavar="FILE", help="audit.jsonl of `python -m harness audit`")
    parser.flag(
        "min_truth",
        type=float,
        help="with --audit: tasks whose ground truth is less true of the code than this (0 to 100) are left out",
    )
    parser.flag("report", type=Path, metavar="FILE", help="HTML page to write as well")
    parser.flag("quiet", action="store_true", help="no summary")
    return parser


def main(argv: list[str] | None) -> int:
    """Run with these arguments, those of the process for None.

    Returns:
        The exit code: 0 done, 1 nothing was selected.

    Raises:
        InputError: the input cannot be read; `cli.run` makes it exit code 2.
    """
    parser = build_parser()
    options = parser.parse_args(argv)
    for limit, source, most in (("max_closed", "closed_book", 1), ("min_truth", "audit", 100)):
        value = getattr(options, limit)
        if value is not None and getattr(options, source) is None:
            parser.error(f"--{limit} needs --{source}")
        if value is not None and not 0 <= value <= most:
            parser.error(f"--{limit} must be from 0 to {most}")
    from locobench.selection.measured import with_measures
    from locobench.selection.read import read_candidates
    from locobench.shared.files import check_output, whole_file

    inputs = [options.dataset_path, *([options.audit] if options.audit else [])]
    check_output(options.output, inputs)
    if options.report:
        check_output(options.report, [*inputs, options.output])
    given = {field.name: getattr(options, field.name) for field in fields(Criteria)}
    criteria = Criteria(**{name: value for name, value in given.items() if value is not None})
    criteria.check()
    tasks = with_measures(
        read_candidates(options.dataset_path),
        open_book=options.open_book,
        closed_book=options.closed_book,
        audit=options.audit,
    )
    selection = select(tasks, criteria)
    contents = {options.output: json.dumps(selection.as_json(), indent=2).encode() + b"\n"}
    if options.report:
        from locobench.selection.page import selection_page

        contents[options.report] = selection_page(tasks, selection, options.dataset_path.name)
    with contextlib.ExitStack() as files:
        for path, content in contents.items():
            files.enter_context(whole_file(path)).write(content)
    if not selection.selected:
        cli.complain(f"{options.output}: no task selected, of {selection.total}; {way_out(selection)}")
        return cli.NOTHING_DONE
    for path, limit, field in (
        (options.closed_book, options.max_closed, "closed_reward"),
        (options.audit, options.min_truth, "truth"),
    ):
        unknown = sum(getattr(task, field) is None for _, task in selection.selected)
        if limit is not None and unknown:
            cli.complain(f"{path}: says nothing of {unknown} of the selected tasks, which stay")
    if not options.quiet:
        print_summary(selection)
        cli.say(f"{len(selection.selected)} tasks written to {options.output}")
        if options.report:
            cli.say(f"Report written to {options.report}")
    return cli.DONE


def way_out(selection: Selection) -> str:
    """Say what would make a selection that is empty hold tasks."""
    if not selection.total:
        return "the dataset is empty: write it again with extract_dataset.py"
    if selection.passed:
        return f"{len(selection.passed)} pass: raise --top_n"
    return "none passes: lower --min_context_length or --min_files_count, or widen the filters" + (
        ", or --max_closed and --min_truth"
        if selection.criteria.max_closed is not None or selection.criteria.min_truth is not None
        else ""
    )


def command() -> NoReturn:
    """Run as a program: a script of the checkout or an installed command."""
    cli.run(main)

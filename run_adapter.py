#!/usr/bin/env python3
"""Generate Harbor task directories from the JSONL dataset and, usually, a selection of it."""

from __future__ import annotations

import argparse
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pipeline import cli

if TYPE_CHECKING:
    from adapter import LoCoBenchLoader


def build_parser() -> cli.Parser:
    parser = cli.Parser(
        "Generate Harbor task directories; without --selected_tasks or --task_ids, for the whole dataset."
    )
    parser.flag("dataset_path", type=Path, default=cli.DATASET_FILE, help="JSONL written by extract_dataset.py")
    parser.flag("output_dir", type=Path, default=cli.TASKS_FOLDER, help="folder to write the task directories to")
    parser.flag("selected_tasks", type=Path, help="JSON written by select_tasks.py; only its tasks are generated")
    parser.flag("task_ids", nargs="+", metavar="ID", help="generate these tasks only")
    parser.flag("limit", type=cli.count, help="generate at most this many tasks")
    parser.flag("data_dir", type=Path, help="folder with generated/ and output/ (default: data/, else data/sample/)")
    parser.flag(
        "base_image",
        type=image_name,
        default="ubuntu:24.04",
        help="Debian or Ubuntu image that the tasks' images start from",
    )
    parser.flag("overwrite", action="store_true", help="write tasks again even when nothing changed")
    parser.flag("include_hints", action="store_true", help="put expected approach and criteria into the instruction")
    parser.flag(
        "scoring",
        metavar="FILE",
        help="TOML file with weights and thresholds (docs/VERIFIER.md), or `published` for the published formula",
    )
    parser.flag(
        "shared_verifier",
        action="store_true",
        help="score in the agent's container, which it can tamper with, instead of a fresh one",
    )
    parser.flag(
        "mcp_config", type=Path, metavar="FILE", help="MCP servers to give to the agent, as a .mcp.json has them"
    )
    parser.flag(
        "strip_code_fences", action="store_true", help="take the Markdown fence off files that are wrapped in one"
    )
    parser.flag(
        "link_mode",
        choices=("auto", "copy", "hardlink", "reflink"),
        default="auto",
        help="how project files get into the tasks; hardlink: the tasks of a project share one copy",
    )
    parser.flag("mirror_repos", type=Path, metavar="DIR", help="also write the projects as git repositories")
    parser.flag("quiet", action="store_true", help="no progress and no summary")
    return parser


def image_name(text: str) -> str:
    """Read an image reference (for `type=` of a flag): it becomes a line of a Dockerfile."""
    if not re.fullmatch(r"[A-Za-z0-9][\w.:/@-]*", text, re.ASCII):
        raise argparse.ArgumentTypeError(f"not an image name: {text!r}")
    return text


def read_selection(path: Path) -> list[str]:
    """Return the ids of a selection, in its order.

    Raises:
        InputError: not a file that select_tasks.py wrote.
    """
    from pipeline.dataset.records import parse_object

    try:
        tasks = parse_object(path.read_bytes())["tasks"]
        if not isinstance(tasks, list):
            raise TypeError("tasks: not a list")
        return [str(task["id"]) for task in tasks]
    except OSError as error:
        raise cli.InputError(f"{path}: cannot be read: {error.strerror}; run select_tasks.py first") from None
    except (ValueError, KeyError, TypeError) as error:
        raise cli.InputError(f"{path}: not a selection ({error!r}); write it again with select_tasks.py") from None


def chosen_ids(options: argparse.Namespace, loader: LoCoBenchLoader) -> list[str]:
    """Return the ids to generate: --task_ids, else the selection, else the whole dataset; at most --limit of them.

    Raises:
        InputError: the selection cannot be read, or ids are not in the dataset (they are named).
    """
    from adapter import UnknownTaskError

    if options.task_ids:
        wanted = options.task_ids
    elif options.selected_tasks:
        wanted = read_selection(options.selected_tasks)
    else:
        wanted = loader.all_ids()
    try:
        return loader.require(wanted)[: options.limit]
    except UnknownTaskError as error:
        raise cli.InputError(f"{error}; --dataset_path names the dataset, extract_dataset.py writes it") from None


def main(argv: list[str] | None) -> int:
    options = build_parser().parse_args(argv)
    from adapter import DatasetError, LoCoBenchAdapter, LoCoBenchLoader
    from pipeline.generate.run import generate
    from pipeline.task.config import McpServer
    from pipeline.task.grading import PUBLISHED, Scoring
    from pipeline.task.make import Options

    say = (lambda _: None) if options.quiet else print
    data_dir = cli.find_data_dir(options.data_dir, say=say)
    try:
        loader = LoCoBenchLoader(options.dataset_path)
    except DatasetError as error:
        raise cli.InputError(str(error)) from None
    task_ids = chosen_ids(options, loader)
    scoring: Scoring | Literal["published"] = Scoring()
    if options.scoring:
        scoring = PUBLISHED if options.scoring == PUBLISHED else Scoring.load(Path(options.scoring))
    adapter = LoCoBenchAdapter(
        loader,
        options.output_dir,
        data_dir,
        Options(
            base_image=options.base_image,
            include_hints=options.include_hints,
            shared_verifier=options.shared_verifier,
            strip_code_fences=options.strip_code_fences,
            link_mode=options.link_mode,
            mcp_servers=McpServer.load(options.mcp_config) if options.mcp_config else (),
            scoring=scoring,
        ),
        overwrite=options.overwrite,
    )
    counts: Counter[str] = Counter()
    for outcome in cli.progress(generate(adapter, task_ids), len(task_ids), "Generating", quiet=options.quiet):
        counts[outcome.status] += 1
        for warning in outcome.warnings:
            cli.complain(f"{outcome.task_id}: {warning}")
        if outcome.status == "failed":
            cli.complain(f"{outcome.task_id}: {outcome.reason}; not written")
    rest = f"{counts['unchanged']} unchanged, {counts['failed']} failed"
    say(f"{counts['written']} tasks written to {options.output_dir}, {rest}")
    if options.mirror_repos:
        from pipeline.generate.mirror import INDEX_FILE, mirror_repos

        failures = mirror_repos(adapter, task_ids, options.mirror_repos)
        for project, reason in failures.items():
            cli.complain(f"{project}: {reason}; not mirrored")
        counts["failed"] += len(failures)
        say(f"repositories listed in {options.mirror_repos / INDEX_FILE}, {len(failures)} failed")
    return cli.SOME_FAILED if counts["failed"] else cli.DONE


if __name__ == "__main__":
    cli.run(main)

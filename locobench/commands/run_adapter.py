"""Generate Harbor task directories from the JSONL dataset, usually for a selection of its tasks."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path
from typing import Literal

from locobench.commands import cli
from locobench.shared.errors import InputError
from locobench.shared.installation import EXTRACT, REPOSITORY, SELECT
from locobench.shared.terminal import first_few

OPTIONS = (
    "base_image",
    "languages",
    "language_image",
    "include_hints",
    "shared_verifier",
    "strip_code_fences",
    "closed_book",
)
"""The flags that are fields of `make.Options` as they are."""


def build_parser() -> cli.Parser:
    """Return the argument parser."""
    parser = cli.Parser(
        "Generate Harbor task directories; without --selected_tasks or --task_ids, for the whole dataset."
    )
    parser.flag("dataset_path", type=Path, default=cli.DATASET_FILE, help=f"JSONL written by {EXTRACT}")
    parser.flag("output_dir", type=Path, default=cli.TASKS_FOLDER, help="folder to write the task directories to")
    parser.flag("selected_tasks", type=Path, help=f"JSON written by {SELECT}; only its tasks are generated")
    parser.flag("task_ids", nargs="+", metavar="ID", help="generate these tasks only")
    parser.flag("limit", type=cli.count, help="generate at most this many tasks")
    parser.flag("data_dir", type=Path, help="folder with generated/ and output/ (default: data/, else data/sample/)")
    parser.flag("base_image", type=cli.base_image, default="ubuntu:24.04", help="Debian or Ubuntu image to start from")
    languages = "TOML file with more languages, in tables like those of templates/environment/languages.toml"
    parser.flag("languages", type=Path, metavar="FILE", help=languages)
    parser.flag(
        "language_image",
        type=cli.language_image,
        metavar="NAME",
        help="prebuilt images to start from instead, e.g. registry/locobench-{language}:1 (docs/RUNNING_AT_SCALE.md)",
    )
    parser.flag("overwrite", action="store_true", help="write tasks again even when nothing changed")
    parser.flag("include_hints", action="store_true", help="put expected approach and criteria into the instruction")
    scoring = "TOML file with weights and thresholds (docs/VERIFIER.md), or `published` for the published formula"
    parser.flag("scoring", metavar="FILE", help=scoring)
    verifier = "grade by a language model (`judge`, docs/JUDGE.md) or by your own verify.py (docs/CUSTOM_VERIFIER.md)"
    parser.flag("verifier", metavar="judge|FILE", help=verifier)
    parser.flag("closed_book", action="store_true", help="leave the code out: what can be answered without reading it")
    parser.flag("shared_verifier", action="store_true", help="score in the agent's container, which it can tamper with")
    parser.flag("mcp_config", type=Path, metavar="FILE", help="MCP servers for the agent, as a .mcp.json has them")
    parser.flag("strip_code_fences", action="store_true", help="take the fence off files that are wrapped in one")
    parser.flag(
        "dataset_name",
        type=cli.dataset_name,
        metavar="ORG/NAME",
        help="also write dataset.toml and the other files of a Harbor dataset beside the tasks",
    )
    parser.flag("mirror_repos", type=Path, metavar="DIR", help="also write the projects as git repositories")
    parser.flag("quiet", action="store_true", help="no progress, no summary, and no word of files that a task lacks")
    return parser


def check_apart(folder: Path | None, data_dir: Path, flag: str) -> None:
    """Raise InputError if an output folder lies inside the input data."""
    if folder is None:
        return
    place, data = folder.resolve(), data_dir.resolve()
    if place == data or any(place.is_relative_to(data / name) for name in ("generated", "output")):
        raise InputError(f"{folder}: lies among the data of {data_dir}; {flag} must name a folder apart from them")


def main(argv: list[str] | None) -> int:
    """Run the command and return the exit code: 0 done, 1 some tasks failed or there was none. InputError means 2."""
    options = build_parser().parse_args(argv)
    from locobench.adapter import LoCoBenchAdapter, LoCoBenchLoader
    from locobench.dataset.catalog import load_languages
    from locobench.generate.dataset import MANIFEST, check_files, publish
    from locobench.generate.folder import beside
    from locobench.generate.make import Options
    from locobench.harbor.mcp import McpServer
    from locobench.scoring.grader import DETERMINISTIC, JUDGE, CustomVerifier, Grader
    from locobench.scoring.scoring import PUBLISHED, Scoring
    from locobench.selection.read import read_selection

    say = (lambda _: None) if options.quiet else cli.say
    data_dir = cli.find_data_dir(options.data_dir, needs="generated", say=say)
    for name in ("output_dir", "mirror_repos"):
        check_apart(getattr(options, name), data_dir, f"--{name}")
    load_languages(options.languages)
    loader = LoCoBenchLoader(options.dataset_path)
    if options.selected_tasks and not options.task_ids:
        chosen = read_selection(options.selected_tasks)
    else:
        chosen = options.task_ids or loader.all_ids()
    task_ids = loader.require(chosen)[: options.limit]
    if not task_ids:
        empty = "--limit is 0" if chosen else f"{options.selected_tasks or options.dataset_path} names none"
        cli.complain(f"{options.output_dir}: no task to generate: {empty}")
        return cli.NOTHING_DONE
    scoring: Scoring | Literal["published"] = Scoring.default()
    if options.scoring:
        scoring = PUBLISHED if options.scoring == PUBLISHED else Scoring.load(Path(options.scoring))
    verifier: Grader = DETERMINISTIC
    if options.verifier:
        verifier = JUDGE if options.verifier == JUDGE else CustomVerifier.load(Path(options.verifier))
    adapter = LoCoBenchAdapter(
        loader,
        options.output_dir,
        data_dir,
        Options(
            **{name: getattr(options, name) for name in OPTIONS},
            mcp_servers=McpServer.load(options.mcp_config) if options.mcp_config else (),
            scoring=scoring,
            verifier=verifier,
        ),
        overwrite=options.overwrite,
    )
    if options.dataset_name:
        check_files(options.output_dir)
    counts: Counter[str] = Counter()
    whole: list[str] = []
    for outcome in cli.progress(adapter.generate(task_ids), len(task_ids), "Generating", quiet=options.quiet):
        counts[outcome.status] += 1
        for warning in outcome.warnings if not options.quiet else ():
            cli.complain(f"{outcome.task_id}: {warning}")
        if outcome.status == "failed":
            cli.complain(f"{outcome.task_id}: {outcome.reason}; not written")
            continue
        if outcome.status == "repaired":
            cli.complain(f"{outcome.task_id}: {outcome.reason} since it was written; repaired")
        whole.append(outcome.task_id)
    rest = f"{counts['unchanged']} unchanged, {counts['failed']} failed"
    if counts["repaired"]:
        rest = f"{counts['repaired']} repaired, {rest}"
    say(f"{counts['written']} tasks written to {options.output_dir}, {rest}")
    if others := beside(options.output_dir, task_ids):
        shown = first_few(others)
        cli.complain(
            f"{options.output_dir}: {len(others)} other tasks lie there ({shown}), which `harbor run -p` takes, too:"
            " move them away, name another --output_dir, or leave them out with -x"
        )
    if options.dataset_name:
        is_sample = data_dir.resolve() == (REPOSITORY / "data" / "sample").resolve()
        publish(options.output_dir, options.dataset_name, whole, scenarios=len(loader), is_sample=is_sample)
        say(f"dataset {options.dataset_name} of {len(whole)} tasks in {options.output_dir / MANIFEST}")
    elif counts["written"] and (options.output_dir / MANIFEST).exists():
        cli.complain(f"{options.output_dir / MANIFEST}: has the digests of before; --dataset_name writes it again")
    if options.mirror_repos:
        from locobench.generate.mirror import INDEX_FILE, mirror_repos

        failures = mirror_repos(
            adapter.group_by_project(task_ids),
            loader.load,
            options.mirror_repos,
            strip_code_fences=options.strip_code_fences,
        )
        for project, reason in failures.items():
            cli.complain(f"{project}: {reason}; not mirrored")
        counts["failed"] += len(failures)
        say(f"repositories listed in {options.mirror_repos / INDEX_FILE}, {len(failures)} failed")
    return cli.SOME_FAILED if counts["failed"] else cli.DONE


command = partial(cli.run, main)
"""Entry point for the checkout's script and the installed command."""

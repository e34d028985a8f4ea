"""Prove generated tasks: build the images, run oracle and nop, look for toolchains and for leaked answers."""

from __future__ import annotations

import os
import platform
import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NoReturn

from locobench.commands import cli
from locobench.dataset.catalog import load_languages
from locobench.shared.errors import InputError
from locobench.smoke import check as smoke


def build_parser() -> cli.Parser:
    """Return the parser of the flags."""
    parser = cli.Parser(
        "Build the image of every task and run oracle and nop in it, without network: the oracle must earn "
        "1.0, doing nothing 0.0; the toolchain must answer, and no ground truth may lie in environment/. The "
        "project's own tests are run and shown, but not judged: LoCoBench's projects need not build."
    )
    parser.add_argument("folder", type=Path, nargs="?", metavar="TASKS", help="same as --tasks_dir")
    parser.flag("tasks_dir", type=Path, default=cli.TASKS_FOLDER, help="folder of tasks, or one task")
    parser.flag("task_ids", nargs="+", metavar="ID", help="only these tasks")
    parser.flag("limit_per_language", type=cli.count, metavar="N", help="only the first N tasks of each language")
    parser.flag(
        "languages", type=Path, metavar="FILE", help="TOML file with more languages, as run_adapter.py was given"
    )
    parser.flag("local", action="store_true", help="oracle and nop on this machine: no Docker, no images, seconds")
    parser.flag("jobs", type=cli.count, help="how many things to do at once (default: one a processor, at most 4)")
    parser.flag("timeout", type=float, default=smoke.Limits.step, help="seconds for one command in a container")
    parser.flag("build_timeout", type=float, default=smoke.Limits.build, help="seconds for building one image")
    parser.flag(
        "push",
        type=cli.language_image,
        metavar="NAME",
        help="when all is well, also build one image a language and push it, e.g. registry/locobench-{language}:1"
        " (run_adapter.py --language_image)",
    )
    parser.flag("report", type=Path, metavar="FILE", help="write the result as Markdown, e.g. SMOKE_TEST_RESULTS.md")
    parser.flag("quiet", action="store_true", help="no progress and no table; the summary only when something failed")
    return parser


def main(argv: list[str] | None) -> int:
    """Run with these arguments, those of the process for None.

    Returns:
        The exit code: 0 all tasks are good, 1 some are not.

    Raises:
        InputError: the input cannot be read; `cli.run` makes it exit code 2.
    """
    parser = build_parser()
    options = parser.parse_args(argv)
    if options.jobs is None:
        options.jobs = min(4, os.cpu_count() or 1)
    if options.jobs < 1 or options.timeout <= 0 or options.build_timeout <= 0:
        parser.error("--jobs, --timeout and --build_timeout must be above 0")
    if options.push and options.local:
        parser.error("--push builds images: not with --local")

    from locobench.smoke import report as smoke_report
    from locobench.smoke.language_images import common_layers, push_images
    from locobench.smoke.task import find_task_folders

    folders = find_task_folders(options.folder or options.tasks_dir, options.task_ids)
    layers = common_layers(folders) if options.push else {}
    engine, facts = None, {"Docker engine": f"none (--local), Python {platform.python_version()}"}
    if not options.local:
        from locobench.smoke.containers import BuildError, Engine, EngineError, NoEngine

        try:
            engine = Engine(connections=options.jobs)
            facts = engine.describe()
        except (EngineError, NoEngine) as error:
            raise InputError(str(error)) from None
    started = time.monotonic()
    rows = smoke.smoke(
        folders,
        engine=engine,
        jobs=options.jobs,
        languages=load_languages(options.languages),
        limits=smoke.Limits(build=options.build_timeout, step=options.timeout),
        limit_per_language=options.limit_per_language,
        watch=partial(cli.progress, quiet=options.quiet),
    )
    failed = [row for row in rows if not row.ok]
    if not options.quiet:
        smoke_report.print_table(rows, local=options.local)
    for row in failed:
        cli.complain(f"{row.task}: {row.verdict}")
    if options.report is not None:
        run = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {time.monotonic() - started:.0f} s wall time"
        facts = {"Run": run, **facts}
        facts["Harbor"] = smoke_report.harbor_version() or "not found"
        if engine is not None:
            facts |= {f"Base image {name}": engine.image_id(name) for name in smoke_report.base_images(rows)}
        smoke_report.write_markdown(rows, options.report, facts, local=options.local)
    if failed:
        return cli.SOME_FAILED
    if options.push and engine is not None:
        try:
            for image in push_images(engine, layers, options.push, timeout=options.build_timeout):
                cli.say(f"pushed {image}")
        except (BuildError, EngineError) as error:
            cli.complain(f"{error}\n{error.tail}" if isinstance(error, BuildError) else str(error))
            return cli.SOME_FAILED
    return cli.DONE


def command() -> NoReturn:
    """Run as a program: a script of the checkout or an installed command."""
    cli.run(main)

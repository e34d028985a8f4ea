"""Verify generated tasks: build the images, run oracle and nop, check the toolchains, look for leaked answers."""

from __future__ import annotations

import contextlib
import os
import platform
import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from locobench.commands import cli
from locobench.dataset.catalog import load_languages
from locobench.shared.errors import InputError
from locobench.shared.installation import GENERATE
from locobench.shared.terminal import printable


def build_parser() -> cli.Parser:
    """Return the argument parser."""
    parser = cli.Parser(
        "Build the image of every task and run oracle and nop in it, without network: the oracle must earn "
        "1.0, doing nothing 0.0; the toolchain must answer, and no ground truth may lie in environment/."
    )
    tasks = "folder of tasks, or one task"
    parser.add_argument("tasks", type=Path, nargs="?", default=cli.TASKS_FOLDER, metavar="TASKS", help=tasks)
    parser.flag("task_ids", nargs="+", metavar="ID", help="only these tasks")
    parser.flag("limit_per_language", type=cli.count, metavar="N", help="only the first N tasks of each language")
    parser.flag("languages", type=Path, metavar="FILE", help=f"TOML file with more languages, as {GENERATE} was given")
    parser.flag("local", action="store_true", help="oracle and nop on this machine: no Docker, no images, seconds")
    parser.flag("task", type=Path, metavar="FOLDER", help="only grade --answer, by the verifier of this task")
    answer = "what --task's verifier is to grade on this machine: shows what it prints, the reward and its metrics"
    parser.flag("answer", type=Path, metavar="FILE", help=answer)
    parser.flag("jobs", type=cli.count, help="how many things to do at once (default: one a processor, at most 4)")
    parser.flag("timeout", type=float, default=300, help="seconds for one command in a container")
    parser.flag("build_timeout", type=float, default=900, help="seconds for building one image")
    report = "write the result as Markdown, e.g. SMOKE_TEST_RESULTS.md, where it replaces that of the same folder"
    parser.flag("report", type=Path, metavar="FILE", help=report)
    parser.flag("quiet", action="store_true", help="no progress and no table; the summary only when something failed")
    return parser


def main(argv: list[str] | None) -> int:
    """Run the command and return the exit code: 0 all tasks are good, 1 some are not. InputError means 2."""
    parser = build_parser()
    options = parser.parse_args(argv)
    if options.jobs is None:
        options.jobs = min(4, os.cpu_count() or 1)
    if options.jobs < 1 or options.timeout <= 0 or options.build_timeout <= 0:
        parser.error("--jobs, --timeout and --build_timeout must be above 0")
    if (options.task is None) != (options.answer is None):
        parser.error("--task and --answer belong together")
    if options.task is not None:
        return grade(options.task, options.answer, options.timeout)

    from locobench.containers.container import EngineError
    from locobench.containers.engine import Engine
    from locobench.smoke import report as smoke_report
    from locobench.smoke.check import Check, smoke
    from locobench.smoke.task import find_task_folders

    tasks = options.tasks
    folders = find_task_folders(tasks, options.task_ids)
    engine, facts = None, {"Docker engine": f"none (--local), Python {platform.python_version()}"}
    if not options.local:
        try:
            engine = Engine()
            facts = {
                "Docker engine": "{ServerVersion} ({Driver})".format_map(engine.info),
                "Host": "{OperatingSystem}, {NCPU} CPUs".format_map(engine.info),
            }
        except EngineError as error:
            raise InputError(f"{error}; or pass --local to run oracle and nop without images") from None
    started = time.monotonic()
    check = Check(engine, load_languages(options.languages), options.build_timeout, options.timeout)
    watch = partial(cli.progress, quiet=options.quiet)
    rows = smoke(folders, check, jobs=options.jobs, limit_per_language=options.limit_per_language, watch=watch)
    failed = [row for row in rows if row.faults]
    if not options.quiet:
        smoke_report.print_table(rows, local=options.local)
    for row in failed:
        cli.complain(f"{row.task}: {row.verdict}")
    if options.report is not None:
        run = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {time.monotonic() - started:.0f} s wall time"
        facts = {"Run": run, **facts}
        if engine is not None:
            built_on = sorted({row.base_image for row in rows if row.size is not None})
            with contextlib.suppress(EngineError):  # it may have gone away
                facts |= {f"Base image {name}": getattr(engine.image(name), "id", "unknown") for name in built_on}
        smoke_report.write_markdown(rows, options.report, facts, tasks=tasks.resolve().name, local=options.local)
    return cli.SOME_FAILED if failed else cli.DONE


def grade(folder: Path, answer: Path, timeout: float) -> int:
    """Grade an answer with a task's own verifier, print what it says, and return the exit code."""
    from locobench.reading import MAX_ANSWER_BYTES
    from locobench.smoke.task import Fault, read_task_folder
    from locobench.smoke.trial import grade_locally

    try:
        with answer.open("rb") as stream:
            content = stream.read(MAX_ANSWER_BYTES)  # Harbor collects no more
        task = read_task_folder(folder)
    except OSError as error:
        raise InputError(f"{answer}: {error.strerror}; --answer names the file that the agent would write") from None
    except Fault as error:
        raise InputError(f"{folder}: {error}; --task names the folder of one task") from None
    reward, output, metrics = grade_locally(task, content, timeout=timeout)
    for heading, text in (("the verifier printed", output), ("metrics.json", metrics)):
        print(printable(f"{heading}:\n{text.rstrip()}\n" if text.strip() else f"{heading}: nothing\n"))
    if isinstance(reward, Fault):
        cli.complain(f"{task.path.name}: {reward}")
        return cli.SOME_FAILED
    print(f"reward: {reward:g}")
    return cli.DONE


command = partial(cli.run, main)
"""Entry point for the checkout's script and the installed command."""

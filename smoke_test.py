#!/usr/bin/env python3
"""Verify generated tasks: build the images, run oracle and nop, check the toolchains, look for leaked answers."""

from __future__ import annotations

import os
import platform
import time
from pathlib import Path

from locobench.shared.command_line import COUNT, DONE, PATH, POSITIVE, SECONDS, SOME_FAILED, argument, option, script
from locobench.shared.errors import InputError
from locobench.shared.installation import GENERATE
from locobench.shared.terminal import complain, printable


@script(
    "Build each task's image and run oracle and nop in it, without network. The oracle must earn 1.0 and nop 0.0, the"
    " toolchain must respond, and environment/ must not hold the ground truth. TASKS is a folder of tasks, or one task"
    " (default: tasks)."
)
@argument("tasks", type=PATH, default="tasks")
@option("--limit_per_language", type=COUNT, metavar="N", help="Only the first N tasks of each language.")
@option("--languages", type=PATH, metavar="FILE", help=f"The file that {GENERATE} --languages was given.")
@option("--local", is_flag=True, help="Run oracle and nop on this machine, without Docker; takes seconds.")
@option("--answer", type=PATH, metavar="FILE", help="Only grade this answer on this machine; TASKS is its task.")
@option("--jobs", type=POSITIVE, help="Tasks at once (default: one per CPU, at most 4).")
@option("--timeout", type=SECONDS, default=300, help="Time limit of each run of oracle, nop or toolchain, in seconds.")
@option("--build_timeout", type=SECONDS, default=900, help="Time limit of building an image, in seconds.")
@option("--report", type=PATH, metavar="FILE", help="Markdown page to write, with what is also printed.")
@option("--quiet", is_flag=True, help="No progress and no table.")
def main(
    tasks: Path,
    limit_per_language: int | None,
    languages: Path | None,
    local: bool,
    answer: Path | None,
    jobs: int | None,
    timeout: float,
    build_timeout: float,
    report: Path | None,
    quiet: bool,
) -> int:
    """Run the command; the exit code is 1 if a task is not good."""
    if answer is not None:
        return grade(tasks, answer, timeout)

    from datetime import UTC, datetime

    from locobench.containers.container import EngineError
    from locobench.containers.engine import Engine
    from locobench.dataset.catalog import load_languages
    from locobench.harbor.task import task_folders
    from locobench.shared.files import write_whole
    from locobench.smoke.check import Check, smoke
    from locobench.smoke.report import page

    folders = task_folders(tasks)
    engine, facts = None, {"Docker engine": f"none (--local), Python {platform.python_version()}"}
    if not local:
        try:
            engine = Engine()
        except EngineError as error:
            raise InputError(f"{error}; start one, or pass --local to run oracle and nop without images") from None
        facts = {
            "Docker engine": "{ServerVersion} ({Driver})".format_map(engine.info),
            "Host": "{OperatingSystem}, {NCPU} CPUs".format_map(engine.info),
        }
    started = time.monotonic()
    check = Check(engine, load_languages(languages), build_timeout, timeout)
    jobs = jobs or min(4, os.cpu_count() or 1)
    rows = smoke(folders, check, jobs=jobs, limit_per_language=limit_per_language, quiet=quiet)
    run = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {time.monotonic() - started:.0f} s"
    shown = page(rows, {"Run": run, **facts}, local=local)
    if not quiet:
        print(shown, end="")
    if report is not None:
        write_whole(report, shown)
    failed = [row for row in rows if row.faults]
    for row in failed:
        complain(f"{row.task}: {row.verdict}")
    return SOME_FAILED if failed else DONE


def grade(folder: Path, answer: Path, timeout: float) -> int:
    """Grade an answer with a task's own verifier, print what it says, and return the exit code."""
    from locobench.reading import MAX_ANSWER_BYTES
    from locobench.smoke.task import Fault, read_task_folder
    from locobench.smoke.trial import run_locally

    try:
        with answer.open("rb") as stream:
            content = stream.read(MAX_ANSWER_BYTES)  # Harbor collects no more
        task = read_task_folder(folder)
    except OSError as error:
        raise InputError(f"{answer}: {error.strerror}; --answer names the file that the agent would write") from None
    except Fault as error:
        raise InputError(f"{folder}: {error}; --answer needs the folder of one task") from None
    try:
        graded = run_locally(task, "nop", timeout=timeout, answer=content)
        metrics = graded.logs.get("metrics.json", b"").decode("utf-8", "replace")
        for heading, text in (("the verifier printed", graded.output), ("metrics.json", metrics)):
            print(printable(f"{heading}:\n{text.rstrip()}\n" if text.strip() else f"{heading}: nothing\n"))
        print(f"reward: {graded.reward():g}")
    except Fault as error:
        complain(f"{task.path.name}: {error}")
        return SOME_FAILED
    return DONE


if __name__ == "__main__":
    main()

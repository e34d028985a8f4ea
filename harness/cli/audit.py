"""The commands about tasks and answers themselves: how true references are, and what of an answer can be looked up."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

import click

from common.files import write_whole
from harness.cli.asking import JudgeOptions, judge_options, say_stopped, say_verdicts
from harness.cli.options import PATH
from harness.errors import InputError
from harness.results.task_folder import TaskFolder, task_folders
from harness.run.audit import audit_lines, audit_questions


@click.command()
@click.argument("tasks", type=PATH)
@click.option("-o", "--output", default="audit.jsonl", show_default=True, type=PATH, help="File to write.")
@judge_options
@click.pass_context
def audit(ctx: click.Context, /, tasks: Path, output: Path, asking: JudgeOptions) -> None:
    """Rate how true the reference of each task is of its code, claim by claim.

    TASKS is a folder of generated tasks, or one of them. Each line of OUTPUT has the task's id, its truth from 0 to
    100 and the checks behind it; `select_tasks.py --audit` leaves out tasks by it. Every verdict is in OUTPUT's
    journal before the next one is asked for; the same command goes on after a stop.

    Exit code 0 when every task that has a reference has a line, else 2.
    """
    questions = audit_questions(task_folders(tasks))
    if not questions:
        raise InputError(f"{tasks}: no task there has a reference in tests/ground_truth.json")
    if asking.dry_run:
        asking.estimate(questions, output)
        return
    panel, stopped = asking.ask(questions, output)
    failed = say_verdicts(panel, questions)
    write_whole(output.expanduser(), audit_lines(questions, panel), durable=True)
    click.echo(f"wrote {output}")
    if stopped:
        say_stopped(stopped, output)
    ctx.exit(2 if stopped or failed else 0)


@click.command()
@click.argument("task", type=PATH)
@click.argument("answer", type=click.File("r", encoding="utf-8", errors="replace"))
def evidence(task: Path, answer: TextIO) -> None:
    """What of an answer can be looked up in the code, and what the code says there: what a judge is shown.

    TASK is a generated task, or any folder of code; ANSWER a file, or - for standard input. No model is asked.
    """
    click.echo(TaskFolder.load(task).pack(answer.read()))

"""The commands that check without running an agent: definitions, reference solutions, the machine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from multiprocessing.pool import ThreadPool
from pathlib import Path

import click

from harness.executor import ClaudeExecutor
from harness.executor.claude.layout import find_version
from harness.graders.code_graders import TIMEOUTS
from harness.graders.composite_grader import CompositeGrader
from harness.graders.hand_in import compile_globs, list_files
from harness.models import Task
from harness.runner.oracle import nop, oracle
from harness.sandbox.place import CLOUDS, PAYING_VARIABLES
from harness.suite.load import load_configs, load_tasks
from locobench.shared.errors import InputError
from measure.commands.options import PATH
from measure.report.console import say, say_lines
from measure.secrets.names import is_secret_name
from measure.secrets.redaction import redact_text

TASKS = "evals/tasks/**/*.task.yaml"


@click.command()
@click.option("-t", "--tasks", "task_glob", help=f"Quoted glob of task files.  [default without -c: {TASKS}]")
@click.option("-c", "--configs", "config_glob", help="Quoted glob of config files.")
@click.option(
    "--static", is_flag=True, help="Only check files and the judge's key, and run each command on the task's own work."
)
@click.option(
    "--nop", "only_nop", is_flag=True, help="Check only the untouched fixtures, for tasks without a solution."
)
@click.option("--mcp-config", type=PATH, help="With -c: MCP servers that every run will have.")
@click.option("-j", "--workers", default=2, show_default=True, type=click.IntRange(1, 64), help="Checks at a time.")
@click.pass_context
def validate(
    ctx: click.Context,
    task_glob: str | None,
    config_glob: str | None,
    static: bool,
    only_nop: bool,
    mcp_config: Path | None,
    workers: int,
) -> None:
    """Check tasks and configs without any model.

    Checks that keys are known, and that named files and programs exist. Then runs the code assertions of each task on
    its reference solution, which must pass, and on its untouched fixture, which must fail. Warns of commands whose exit
    code is the only evidence. Exit code 1 if a task is wrong, 2 if a file cannot be used.
    """
    for config in load_configs(config_glob) if config_glob else ():
        ClaudeExecutor(mcp_config_path=mcp_config).resolve(config).refuse_unknown_servers()
        say(f"ok: {config.name} ({config.model}, {config.max_turns} turns)")
    if config_glob and task_glob is None:
        return
    if task_glob is None and not Path("evals/tasks").is_dir():
        raise InputError(f"no suite here ({Path.cwd()} has no evals/tasks); name task files with -t")
    tasks = load_tasks(task_glob or TASKS)
    grader = CompositeGrader()
    _validate_files(tasks, grader, static=static)
    if not static:
        jobs = [(kind, task) for task in tasks for kind in ([nop] if only_nop else [oracle, nop])]
        with ThreadPool(workers) as pool:  # whose threads do not delay Ctrl-C
            checks = pool.map(lambda job: job[0](job[1], grader), jobs, chunksize=1)
        for check in checks:
            say_lines(
                f"{'ok' if check.as_expected else 'WRONG'}: {check.kind} {check.task_id}: {check.details}", hang=4
            )
        right = sum(check.as_expected for check in checks)
        say(f"{right} of {len(checks)} checks passed")
        ctx.exit(0 if right == len(checks) else 1)


def _validate_files(tasks: Sequence[Task], grader: CompositeGrader, *, static: bool) -> None:
    if static:  # otherwise no judge is asked
        grader.refuse_without_judge(tasks)
    for task in tasks:
        problems = _check_sources(task)
        try:
            why = "with no solution_path" if task.solution_path is None else "as it runs no unittest or pytest"
            problems += [f"exit code 0 is the only proof of {command!r}, {why}" for command in grader.prepare(task)]
        except InputError:  # running its checks will show it
            if static:
                raise
        for problem in problems:
            say(f"warning: {task.id}: {problem}", err=True)
        if static:
            checks = f"{len(task.code_assertions)} code and {len(task.llm_assertions)} LLM assertions"
            say(f"ok: {task.id} ({task.category}, {task.difficulty}): {checks}")


def _check_sources(task: Task) -> list[str]:
    """Return what is wrong with the files that a task lets agents hand in."""
    if not any(assertion.check in TIMEOUTS for assertion in task.code_assertions):
        return []
    if not task.sources:
        return ["names no `sources`, so its commands run on whatever an agent leaves; list the files that count"]
    known = list_files(task.fixture_path) | list_files(task.solution_path)
    unused = [glob for glob in task.sources if not any(map(compile_globs([glob]).fullmatch, known))]
    return [f"sources: {glob} matches no file of the fixture or the solution" for glob in unused]


@click.command()
@click.option("--claude", "claude_path", default="claude", envvar="HARNESS_CLAUDE", help="The claude executable.")
@click.pass_context
def env_status(ctx: click.Context, claude_path: str) -> None:
    """Show whether this machine is ready to run. Values of secrets are never shown.

    Exit code 2 when something needed is missing.
    """
    version = find_version(claude_path)
    names = [*PAYING_VARIABLES, *(name for cloud in CLOUDS.values() for name in cloud)]
    paying = [name for name in names if os.environ.get(name)]
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    say(f"claude: {version or f'{claude_path} not found; install Claude Code or name it with --claude'}")
    say(f"env file: {ctx.obj or 'none'}")
    for name in paying:
        say(f"{name}: {'set' if is_secret_name(name) else redact_text(os.environ[name])}")
    if not paying:
        say("credentials: none; set ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN")
    root_refused = is_root and not os.environ.get("IS_SANDBOX")
    if root_refused:
        say("root: Claude Code refuses to skip permissions; set IS_SANDBOX=1 if this is a sandbox")
    ctx.exit(2 if not version or not paying or root_refused else 0)

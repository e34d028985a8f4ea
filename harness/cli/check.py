"""The commands that check without running an agent: definitions, reference solutions, the machine."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click

from harness.claude.version import installed_version
from harness.cli.run_options import docker_sandbox, sandbox_base_option, sandbox_claude_option
from harness.executor import ClaudeExecutor
from harness.graders.composite_grader import CompositeGrader
from harness.host.redaction import redact_text
from harness.host.variables import CLOUDS, PASSED_VARIABLES
from harness.report.console import say, say_lines
from harness.run.oracle import Check, nop, oracle
from harness.suite import load as loading
from locobench.shared.secrets import is_secret_name

TASKS = "evals/tasks/**/*.task.yaml"
CONFIGS = "evals/configs/*/config.yaml"


@click.command()
@click.option("-t", "--task", "pattern", required=True, help="Task file, or a quoted glob of them.")
def validate_task(pattern: str) -> None:
    """Check task files: keys, scoring, patterns, that what they name exists, and that their checks can be carried out.

    Warns of commands for which exit code 0 is all that says the work is good.
    """
    grader = CompositeGrader()
    for task in loading.load_tasks(pattern):
        grader.refuse_without_judge([task])
        for command in grader.prepare(task):
            why = "without a solution_path" if task.solution_path is None else "since it runs no Python program"
            say(f"warning: {task.id}: exit code 0 alone proves {command!r}, {why}", err=True)
        checks = f"{len(task.code_assertions)} code and {len(task.llm_assertions)} LLM assertions"
        say(f"ok: {task.id} ({task.category}, {task.difficulty}): {checks}")


@click.command()
@click.option("-c", "--config", "pattern", required=True, help="Config file, or a quoted glob of them.")
@click.option(
    "--mcp-config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="MCP servers that every run will have.",
)
def validate_config(pattern: str, mcp_config: Path | None) -> None:
    """Check config files: keys, tools, skills, MCP servers and the variables they take from this host."""
    executor = ClaudeExecutor(mcp_config_path=mcp_config)
    for config in loading.load_configs(pattern):
        executor.resolve(config).refuse_unknown_servers()
        say(f"ok: {config.name} ({config.model}, {config.max_turns} turns)")


@click.command()
@click.option("-t", "--tasks", "pattern", default=TASKS, show_default=True, help="Quoted glob of task files.")
@click.option("--oracle", "only_oracle", is_flag=True, help="Only the reference solutions, unless --nop too.")
@click.option("--nop", "only_nop", is_flag=True, help="Only the untouched fixtures, unless --oracle too.")
@click.option("-j", "--workers", default=2, show_default=True, type=click.IntRange(1, 64), help="Checks at a time.")
@click.pass_context
def validate(ctx: click.Context, pattern: str, only_oracle: bool, only_nop: bool, workers: int) -> None:
    """Check tasks without any model: the reference solution passes, the untouched fixture fails.

    Judged by the code assertions alone. Exit code 1 when a task is not as it should be.
    """
    both = only_oracle == only_nop
    kinds = [oracle] * (both or only_oracle) + [nop] * (both or only_nop)
    tasks = loading.load_tasks(pattern)
    with ThreadPoolExecutor(workers) as pool:
        checks: list[Check] = list(pool.map(lambda job: job[0](job[1]), [(k, t) for t in tasks for k in kinds]))
    for check in checks:
        say_lines(f"{'ok' if check.as_expected else 'WRONG'}: {check.kind} {check.task_id}: {check.details}", hang=4)
    wrong = sum(not check.as_expected for check in checks)
    say(f"{len(checks) - wrong} of {len(checks)} checks are as they should be")
    ctx.exit(1 if wrong else 0)


@click.command()
@click.argument("kind", type=click.Choice(["tasks", "configs"]), default="tasks")
@click.option("--path", help="Quoted glob, or a folder to search.")
def ls(kind: str, path: str | None) -> None:
    """List tasks or configs."""
    default, suffix = (TASKS, "**/*.task.yaml") if kind == "tasks" else (CONFIGS, "**/config.yaml")
    pattern = str(Path(path) / suffix) if path and Path(path).is_dir() else path or default
    if kind == "tasks":
        for task in loading.load_tasks(pattern):
            say(f"{task.id}  {task.category}  {task.difficulty}  {task.description}")
    else:
        for config in loading.load_configs(pattern):
            say(f"{config.name}  {config.model}  {config.max_turns} turns  {config.description}")


@click.command()
@sandbox_base_option
@sandbox_claude_option
def sandbox_image(sandbox_base: str, sandbox_claude: str) -> None:
    """Build the image of --sandbox docker where it is not there yet, try it, and print its name."""
    sandbox = docker_sandbox(None, sandbox_base, sandbox_claude)
    sandbox.prepare("claude")
    click.echo(sandbox.image)


@click.command()
@click.option("--claude", "claude_path", default="claude", envvar="HARNESS_CLAUDE", help="The claude executable.")
@click.pass_context
def env_status(ctx: click.Context, claude_path: str) -> None:
    """Show whether this machine is ready to run. Values of secrets are never shown.

    Exit code 2 when something needed is missing.
    """
    version = installed_version(claude_path)
    names = [*PASSED_VARIABLES["who pays"], *(name for cloud in CLOUDS.values() for name in cloud)]
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

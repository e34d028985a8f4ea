"""What the page of the commands says: the scripts' and the harness's options, from the parsers themselves."""

from __future__ import annotations

import importlib
import inspect

import click

from harness.cli import COMMANDS, cli
from locobench.launch import COMMANDS as SCRIPTS


def commands_page() -> str:
    """Return the page."""
    parts = [
        "# Command line reference",
        "Written by `make docs` from the commands; change those, not this page. The [README](../README.md) shows the"
        " scripts in order of use; [HARNESS.md](HARNESS.md) says how to use the harness.",
        "## The pipeline",
        "Flags may be typed with dashes as well (`--data-dir`). By default a script reads and writes in the current"
        " folder. Exit codes: 0 done, 1 some scenarios or tasks failed or there was nothing to do, 2 wrong"
        " usage or input that cannot be read, 130 interrupted.",
    ]
    for installed, script in SCRIPTS.items():
        parts += _script(installed, script)
    parts += [
        "## The harness",
        "`python -m harness COMMAND`, or `locobench-harness COMMAND` once installed.",
        inspect.cleandoc(cli.help or ""),
        _options(cli),
    ]
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        parts += _command(name, command)
    return "\n\n".join(filter(None, parts)) + "\n"


def _script(installed: str, script: str) -> list[str]:
    command: click.Command = importlib.import_module(script).main
    arguments = " ".join(_words(command))
    usage = f"```bash\npython {script}.py {arguments}".rstrip() + " [OPTIONS]\n```"
    return [f"### {script}.py", f"Installed: `{installed}`. {command.help}", usage, _options(command)]


def _command(name: str, command: click.Command) -> list[str]:
    usage = " ".join(["python -m harness", name, *_words(command), "[OPTIONS]"])
    help_text = inspect.cleandoc(command.help or "").replace("\b\n", "")
    return [f"### {name}", help_text, f"```bash\n{usage}\n```", _options(command)]


def _words(command: click.Command) -> list[str]:
    """Return the command's arguments as its usage shows them."""
    context = click.Context(command, info_name=command.name)
    return [one.make_metavar(context) for one in command.params if isinstance(one, click.Argument)]


def _options(command: click.Command) -> str:
    # The declared defaults, not those that this machine's environment would give.
    context = click.Context(command, info_name=command.name, default_map={})
    rows = []
    for option in command.params:
        if not isinstance(option, click.Option) or option.hidden:
            continue
        value = f" {option.metavar}" if option.metavar else ""
        spellings = ", ".join(f"`{_cell(one + value)}`" for one in [*option.opts, *option.secondary_opts])
        meaning = option.help or ""
        if option.envvar:
            names = option.envvar if isinstance(option.envvar, str) else ", ".join(option.envvar)
            meaning += f" Environment: `{names}`."
        rows.append(f"| {spellings} | {_click_default(option, context)} | {_cell(meaning)} |")
    return "\n".join(["| Option | Default | Meaning |", "|---|---|---|", *rows]) if rows else ""


def _click_default(option: click.Option, context: click.Context) -> str:
    if option.required:
        return "required"
    default = option.to_info_dict()["default"]
    values = default if isinstance(default, list | tuple) else [default]
    return ", ".join(f"`{_cell(str(one))}`" for one in values if one not in (None, False, "") and not option.is_flag)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")

"""What the page of the commands says: the scripts' and the harness's options, from the parsers themselves."""

from __future__ import annotations

import argparse
import importlib
import inspect
import tomllib
from pathlib import Path

import click

from harness.cli import COMMANDS, cli


def commands_page(root: Path) -> str:
    """Return the page for the code in `root`."""
    installed = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    parts = [
        "# Command line reference",
        "Written by `make docs` from the commands; change those, not this page. [HARNESS.md](HARNESS.md) tells how the"
        " harness is used, the [README](../README.md) shows the scripts in their order.",
        "## The pipeline",
        "A flag may be typed with dashes as well (`--data-dir`). What a script reads and writes by default lies beside"
        " it; for an installed command it lies in the current folder. Exit codes: 0 done, 1 some scenarios or tasks"
        " failed or there was nothing to do, 2 wrong usage or input that cannot be read, 130 interrupted.",
    ]
    for name, target in installed.items():
        module = target.partition(":")[0]
        if not module.startswith(("harness", "measure")):
            parts += _script(module, name, root)
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


def _script(module: str, installed: str, root: Path) -> list[str]:
    parser: argparse.ArgumentParser = importlib.import_module(module).build_parser()
    rows = []
    for action in parser._actions:
        if action.help == argparse.SUPPRESS or isinstance(action, argparse._HelpAction):
            continue
        name = " ".join([action.option_strings[0] if action.option_strings else "", _metavar(action)]).strip()
        default = action.default
        if isinstance(default, Path) and default.is_relative_to(root):
            default = default.relative_to(root)
        shown = "" if default in (None, False, argparse.SUPPRESS) else f"`{default}`"
        rows.append(f"| `{_cell(name)}` | {shown} | {_cell(action.help or '')} |")
    table = "\n".join(["| Flag | Default | Meaning |", "|---|---|---|", *rows])
    return [f"### {module.rpartition('.')[2]}.py", f"Installed: `{installed}`. {parser.description}", table]


def _metavar(action: argparse.Action) -> str:
    if action.nargs == 0:
        return ""
    # A long list stands in the help.
    if action.choices and len(", ".join(map(str, action.choices))) < 40:
        value = "{" + ",".join(map(str, action.choices)) + "}"
    else:
        value = str(action.metavar or action.dest.upper())
    return f"{value} ..." if action.nargs == "+" else f"[{value}]" if action.nargs == "?" else value


def _command(name: str, command: click.Command) -> list[str]:
    arguments = [one for one in command.params if isinstance(one, click.Argument)]
    words = [str(one.metavar or (one.name or "").upper()) for one in arguments]
    usage = " ".join(word if one.required else f"[{word}]" for word, one in zip(words, arguments, strict=True))
    usage = f"python -m harness {name} {usage}".strip() + " [OPTIONS]"
    help_text = inspect.cleandoc(command.help or "").replace("\b\n", "")
    return [f"### {name}", help_text, f"```bash\n{usage}\n```", _options(command)]


def _options(command: click.Command) -> str:
    # The declared defaults, not those that this machine's environment would give.
    context = click.Context(command, info_name=command.name, default_map={})
    rows = []
    for option in command.params:
        if not isinstance(option, click.Option) or option.hidden:
            continue
        spellings = ", ".join(f"`{one}`" for one in [*option.opts, *option.secondary_opts])
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

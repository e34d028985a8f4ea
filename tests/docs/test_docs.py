"""Whether the reference pages say what the code does."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path

import click
import pytest
from pydantic import BaseModel

import harness.models
from harness.cli import COMMANDS
from harness.suite.load import load_config, load_task
from tests.support.suite import REPOSITORY

API = (REPOSITORY / "docs/API_REFERENCE.md").read_text(encoding="utf-8")
CLI = (REPOSITORY / "docs/CLI_REFERENCE.md").read_text(encoding="utf-8")
EXAMPLE = re.compile(r"```yaml\n(.*?)```", re.DOTALL)


def classes() -> Iterator[tuple[str, str, str]]:
    """Name, module and text of every class section of the API page."""
    for section in re.split(r"^### ", API, flags=re.MULTILINE)[1:]:
        name, text = section.split("\n", 1)
        module = re.search(r"^`(harness/\w+(?:/\w+)?)\.py`", text, re.MULTILINE)
        assert module, f"{name} does not say where it is"
        yield name, module.group(1).replace("/", "."), text.split("\n## ")[0]


def rows(text: str) -> set[str]:
    """First cells of the tables in a text."""
    return set(re.findall(r"^\| `([\w()]+)` \|", text, re.MULTILINE))


def signature(owner: type, name: str) -> str:
    """A member's parameters as the page shows them: without self, annotations and modules plain."""
    member = inspect.getattr_static(owner, name)
    if isinstance(member, property):
        return "property"
    function = getattr(member, "__func__", member)
    parameters = list(inspect.signature(function).parameters.values())
    kept = [p for p in parameters if p.name != "self"]
    text = str(inspect.signature(function).replace(parameters=kept))
    return re.sub(r"(: |-> )'([^']*)'", r"\1\2", text).replace("|", "\\|")


def members(owner: type) -> set[str]:
    """Fields, values, public methods and properties that a class defines or shows."""
    if issubclass(owner, Enum):
        return {member.value or "(empty)" for member in owner}
    names: set[str] = set()
    if issubclass(owner, BaseModel):
        names |= set(owner.model_fields)
    elif is_dataclass(owner):
        names |= {field.name for field in fields(owner)}
    for name, member in vars(owner).items():
        function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        is_own = inspect.isfunction(function) and function.__module__ == owner.__module__
        if is_own and (not name.startswith("_") or (name == "__init__" and not is_dataclass(owner))):
            names.add(name)
    return names


@pytest.mark.parametrize(("name", "module", "text"), list(classes()), ids=[name for name, _, _ in classes()])
def test_class_section_has_every_member_and_no_other(name: str, module: str, text: str) -> None:
    owner = getattr(importlib.import_module(module), name)
    values = re.search(r"^Values: (.*)\.$", text, re.MULTILINE)
    documented = set(re.findall(r"`(\w+)`", values.group(1))) if values else rows(text)
    assert documented == members(owner)
    shown = re.findall(r"^\| `(\w+)` \| `(property|\(.*?\)(?: -> .*?)?)` \|", text, re.MULTILINE)
    assert shown == [(member, signature(owner, member)) for member, _ in shown]


def test_every_model_has_a_section() -> None:
    models = {name for name in harness.models.__all__ if isinstance(getattr(harness.models, name), type)}
    assert models <= {name for name, _, _ in classes()}


def test_every_command_has_a_section() -> None:
    assert list(COMMANDS) == [name for name in re.findall(r"^## ([a-z-]+)$", CLI, re.MULTILINE) if name in COMMANDS]


@pytest.mark.parametrize("name", list(COMMANDS))
def test_command_section_has_every_option_and_no_other(name: str) -> None:
    text = CLI.split(f"\n## {name}\n")[1].split("\n## ")[0]
    documented = {
        option
        for cell in re.findall(r"^\| (`-[^|]*) \|", text, re.MULTILINE)
        for option in re.findall(r"`(-[\w-]+)`", cell)
    }
    command = COMMANDS[name].load(name)
    options = [p for p in command.params if isinstance(p, click.Option)]
    assert documented == {spelling for option in options for spelling in [*option.opts, *option.secondary_opts]}


@pytest.mark.parametrize("name", list(COMMANDS))
def test_help_in_the_table_of_commands_is_short(name: str) -> None:
    assert len(COMMANDS[name].help) <= 80


def test_example_task_and_config_are_accepted(tmp_path: Path) -> None:
    task, config = EXAMPLE.findall(API)
    here = tmp_path / "evals/tasks/coding"
    for path in ("fixtures/shelf", "hidden/fix-auth-bypass", "solutions/fix-auth-bypass", "skills"):
        (tmp_path / "evals" / path).mkdir(parents=True)
    here.mkdir(parents=True)
    (here / "a.task.yaml").write_text(task)
    (here / "config.yaml").write_text(config)
    (here / "search.mcp.json").write_text('{"mcpServers": {}}')
    assert load_task(here / "a.task.yaml").id == "fix-auth-bypass"
    assert load_config(here / "config.yaml").name == "with-search"

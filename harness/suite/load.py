"""Load task and config files. Errors name the file, the line and the key."""

from __future__ import annotations

import glob
import json
import os
import re
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, SequenceNode

from harness.models import CodeAssertion, Config, LLMAssertion, Task
from locobench.shared.errors import InputError
from locobench.shared.files import read_text
from locobench.shared.terminal import did_you_mean

Model = TypeVar("Model", bound=BaseModel)


def load_task(path: Path | str) -> Task:
    """Load a task from YAML or JSON, with absolute paths.

    InputError names the file, line and key of every mistake, or a path that is missing.
    """
    return _with_paths(Path(path), _load(Path(path), Task))


def load_config(path: Path | str) -> Config:
    """Load a config from YAML or JSON, as `load_task` does."""
    config = _load(Path(path), Config)
    for name in ("claude_md", "agents_md"):
        _warn_of_lost_text(Path(path), name, getattr(config, name))
    return _with_paths(Path(path), config)


def _with_paths(source: Path, model: Model) -> Model:
    """Make the paths in a definition absolute: they are relative to its file, and ~ is expanded."""
    paths = {name: (source.parent / value.expanduser()).resolve() for name, value in model if isinstance(value, Path)}
    for key, path in paths.items():
        if not path.exists():
            raise InputError(f"{source}: {key}: {path} does not exist (paths are relative to the file that names them)")
        if isinstance(model, Task) and not path.is_dir():
            raise InputError(f"{source}: {key}: {path} is no folder")
    return model.model_copy(update=paths)


def _warn_of_lost_text(source: Path, key: str, text: str | None) -> None:
    """Warn of a text that the agent would not get: YAML reads it as a comment, or it is the name of a file."""
    problem = ""
    if text is None:
        comment = re.search(rf"^{key}:[ \t]*(?:\n[ \t]+)?(#.*)", read_text(source), re.MULTILINE)
        if comment:
            problem = f"is empty, since YAML takes {comment[1].rstrip()!r} for a comment; write the text"
    elif os.path.isfile(source.parent / text):  # noqa: PTH113 - a text may be too long for the name of a file
        problem = f"is the text {text!r} itself, though there is a file of that name; write its content"
    if problem:
        warnings.warn(f"{source}: {key} {problem} below `{key}: |`", stacklevel=3)


def load_tasks(pattern: str) -> list[Task]:
    """Load the tasks of all files that a glob matches, sorted by path; ids must be unique. ~ and ** are expanded."""
    return _load_all(pattern, load_task, "id")


def load_configs(pattern: str) -> list[Config]:
    """Load the configs of all files that a glob matches, sorted by path; names must be unique."""
    return _load_all(pattern, load_config, "name")


def read_object(path: Path) -> dict[str, Any]:
    """Read the object in a JSON file, {} if there is no such file; InputError if it cannot be read or is no object."""
    if not path.is_file():
        return {}
    try:
        data = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON ({error}); repair it") from error
    if not isinstance(data, dict):
        raise InputError(f"{path}: must hold a JSON object")
    return data


def servers_in(path: Path, source: dict[str, Any]) -> dict[str, Any]:
    """Return the MCP servers in the content of a file of Claude Code, by name; InputError if they are no object."""
    servers = source.get("mcpServers", {})
    if not isinstance(servers, dict):
        raise InputError(f"{path}: mcpServers must be an object with one entry per server")
    return servers


def _load_all(pattern: str, load: Callable[[Path], Model], key: str) -> list[Model]:
    # Path.glob refuses absolute patterns
    paths = sorted(Path(p) for p in glob.glob(str(Path(pattern).expanduser()), recursive=True))  # noqa: PTH207
    models: dict[str, tuple[Path, Model]] = {}
    for path in filter(Path.is_file, paths):
        model = load(path)
        name = getattr(model, key)
        if name in models:
            raise InputError(f"{path}: {key} {name!r} is already used by {models[name][0]}")
        models[name] = path, model
    if not models:
        raise InputError(f"{pattern}: no file matches in {Path.cwd()}; name existing task or config files")
    return [model for _, model in models.values()]


def _load(path: Path, model: type[Model]) -> Model:
    text = read_text(path)
    data = _parse(path, text)
    if not isinstance(data, dict):
        keys = ", ".join(list(model.model_fields)[:3])
        raise InputError(f"{path}:1: must be a mapping of keys such as {keys}")
    try:
        return model.model_validate(data)
    except ValidationError as error:
        root = YAML(typ="safe", pure=True).compose(text)
        problems = dict.fromkeys(_explain(path, root, detail, model) for detail in error.errors())
        raise InputError(*problems) from error


def _parse(path: Path, text: str) -> Any:
    try:
        return YAML(typ="safe", pure=True).load(text)
    except MarkedYAMLError as error:
        # Some errors have the place and the reason as their context alone.
        mark, problem = error.problem_mark or error.context_mark, error.problem or error.context
        raise InputError(f"{path}:{mark.line + 1}: not YAML ({problem})") from error
    except (YAMLError, ValueError, RecursionError) as error:  # of an odd character, YAML tells no line
        raise InputError(f"{path}: not YAML ({' '.join(str(error).split())})") from error


MESSAGES = {
    "missing": "required key is missing",
    "union_tag_not_found": "needs `check:` (a code assertion) or `rubric:` (one that a judge decides)",
    "union_tag_invalid": "type must be `code` or `llm`",
}
"""What to say instead of pydantic's own message."""


def _explain(path: Path, root: Node, detail: ErrorDetails, model: type[BaseModel]) -> str:
    """Describe one problem in one line, with the innermost key of the file that it concerns."""
    parts = [*detail["loc"], *([detail["ctx"]["key"]] if detail["type"] == "unknown_scoring_key" else [])]
    where, line = _place(root, parts)
    message = MESSAGES.get(detail["type"], detail["msg"].removeprefix("Value error, "))
    if detail["type"] == "missing":
        where.append(parts[-1])
    if detail["type"] == "extra_forbidden":
        members: dict[object, type[BaseModel]] = {"code": CodeAssertion, "llm": LLMAssertion}
        fields = next((members[part] for part in parts if part in members), model).model_fields
        message = f"unknown key; {did_you_mean(str(parts[-1]), fields)}"
    return f"{path}:{line}: {'.'.join(map(str, where)) or 'file'}: {message}"


def _place(root: Node, parts: Sequence[str | int]) -> tuple[list[str | int], int]:
    """Return the innermost key or item on a path of parts, and its line, from 1.

    Parts that the file does not have are skipped, since pydantic adds the names of union members.
    """
    where, line, node = [], 0, root
    for part in parts:
        inside = []
        if isinstance(node, MappingNode):
            inside = [(key, value) for key, value in node.value if key.value == str(part)]
        elif isinstance(node, SequenceNode) and isinstance(part, int):
            inside = [(node.value[part], node.value[part])]
        for key, value in inside[:1]:
            where.append(part)
            line, node = key.start_mark.line, value
    return where, line + 1

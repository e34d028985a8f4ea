"""How task, config and results files become models, with errors that name file, line and key."""

from __future__ import annotations

import difflib
import glob
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from harness.errors import InputError
from harness.models import SCHEMA_VERSION, CodeAssertion, Config, EvalResult, LLMAssertion, ResultsFile, Task

Model = TypeVar("Model", bound=BaseModel)
Location = tuple[str | int, ...]
Lines = dict[Location, int]


def load_task(path: Path) -> Task:
    """Task of a YAML or JSON file, its paths absolute and existing; InputError otherwise."""
    task = _load(path, Task)
    return task.model_copy(
        update={
            name: _existing(path, name, getattr(task, name))
            for name in ("fixture_path", "hidden_path", "solution_path")
        }
    )


def load_config(path: Path) -> Config:
    """Config of a YAML or JSON file, its paths absolute and existing; InputError otherwise."""
    config = _load(path, Config)
    updates: dict[str, Any] = {"skills_path": _existing(path, "skills_path", config.skills_path)}
    if isinstance(config.mcp_config, Path):
        updates["mcp_config"] = _existing(path, "mcp_config", config.mcp_config)
    return config.model_copy(update=updates)


def load_tasks(pattern: str) -> list[Task]:
    """Tasks of all files a glob matches, sorted by path; ids must be unique."""
    return _load_all(pattern, load_task, "id")


def load_configs(pattern: str) -> list[Config]:
    """Configs of all files a glob matches, sorted by path; names must be unique."""
    return _load_all(pattern, load_config, "name")


def expand_glob(pattern: str) -> list[Path]:
    """Files that match, sorted; the pattern may be absolute, use ~ and **. InputError if there are none."""
    # Path.glob refuses absolute patterns
    paths = sorted(Path(p) for p in glob.glob(str(Path(pattern).expanduser()), recursive=True))  # noqa: PTH207
    files = [p for p in paths if p.is_file()]
    if not files:
        raise InputError(f"{pattern}: no file matches; quote the pattern so that the shell does not expand it")
    return files


def load_results(path: Path) -> list[EvalResult]:
    """Results of a results file (object with `results`, or a bare list); InputError if unreadable."""
    return load_results_file(path).results


def load_results_file(path: Path) -> ResultsFile:
    """A whole results file with its header; InputError when it cannot be read or is of a newer version."""
    text = _read(path)
    try:
        if text.lstrip().startswith("["):
            text = f'{{"timestamp": 0, "num_results": 0, "results": {text}}}'
        file = ResultsFile.model_validate_json(text)
    except ValidationError as error:
        raise InputError(f"{path}: {_why_no_results(text, error)}") from error
    if file.schema_version > SCHEMA_VERSION:
        raise InputError(f"{path}: {_too_new(file.schema_version)}")
    return file


def _why_no_results(text: str, error: ValidationError) -> str:
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return f"not JSON ({first['ctx']['error']}); is this a results file?"
    version = re.match(r'\s*\{\s*"schema_version":\s*(\d+)', text)
    if version and int(version.group(1)) > SCHEMA_VERSION:
        return _too_new(int(version.group(1)))
    return f"{_dotted(first['loc']) or 'file'}: {first['msg']}; is this a results file?"


def _too_new(version: int) -> str:
    return f"schema_version {version} is newer than {SCHEMA_VERSION}, which this harness reads; update it"


def _load_all(pattern: str, load: Any, key: str) -> list[Any]:
    seen: dict[str, Path] = {}
    models = []
    for path in expand_glob(pattern):
        model = load(path)
        name = getattr(model, key)
        if name in seen:
            raise InputError(f"{path}: {key} {name!r} is already used by {seen[name]}")
        seen[name] = path
        models.append(model)
    return models


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start})") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error


def _load(path: Path, model: type[Model]) -> Model:
    text = _read(path)
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        data = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise InputError(f"{path}:{line}: not YAML ({error.problem})") from error
    except (yaml.YAMLError, ValueError) as error:
        raise InputError(f"{path}: not YAML ({error})") from error
    lines: Lines = {}
    for where, line in _walk(node, ()):
        if where in lines:
            first = lines[where]
            raise InputError(f"{path}:{line}: {_dotted(where)}: key is given twice (first in line {first})")
        lines[where] = line
    if not isinstance(data, dict):
        keys = ", ".join(list(model.model_fields)[:3])
        raise InputError(f"{path}:1: must be a mapping of keys such as {keys}")
    try:
        return model.model_validate(data)
    except ValidationError as error:
        problems = dict.fromkeys(_explain(path, lines, detail, model) for detail in error.errors())
        raise InputError("\n".join(problems)) from error


def _walk(node: yaml.Node | None, where: Location) -> Iterator[tuple[Location, int]]:
    """Every key and list item below a YAML node with its line number, from 1."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            here = (*where, str(key.value))
            yield here, key.start_mark.line + 1
            yield from _walk(value, here)
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            here = (*where, index)
            yield here, item.start_mark.line + 1
            yield from _walk(item, here)


MESSAGES = {
    "missing": "required key is missing",
    "union_tag_not_found": "needs `type: code` or `type: llm`",
}
"""What to say instead of pydantic's own message."""


def _explain(path: Path, lines: Lines, detail: ErrorDetails, model: type[BaseModel]) -> str:
    """One line for one problem, with the innermost key of the file that it is about."""
    parts = list(detail["loc"])
    if detail["type"] == "unknown_scoring_key":
        parts.append(detail["ctx"]["key"])
    where: Location = ()
    for part in parts:  # pydantic adds the names of union members, which the file does not have
        if (*where, part) in lines:
            where = (*where, part)
    line = lines.get(where, 1)
    message = MESSAGES.get(detail["type"], detail["msg"].removeprefix("Value error, "))
    if detail["type"] == "missing":
        where = (*where, parts[-1])
    if detail["type"] == "extra_forbidden":
        members: dict[object, type[BaseModel]] = {"code": CodeAssertion, "llm": LLMAssertion}
        fields = next((members[part] for part in parts if part in members), model).model_fields
        close = difflib.get_close_matches(str(where[-1]), fields, n=1)
        message = "unknown key; " + (f"did you mean {close[0]}?" if close else f"known: {', '.join(fields)}")
    return f"{path}:{line}: {_dotted(where) or 'file'}: {message}"


def _dotted(where: Location) -> str:
    return ".".join(str(part) for part in where)


def _existing(source: Path, key: str, value: Path | None) -> Path | None:
    """Absolute path of what a definition file names, relative to that file and with ~ expanded."""
    if value is None:
        return None
    path = (source.parent / value.expanduser()).resolve()
    if not path.exists():
        raise InputError(f"{source}: {key}: {path} does not exist (paths are relative to the file that names them)")
    return path

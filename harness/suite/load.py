"""How do task and config files become models? Errors name the file, the line and the key."""

from __future__ import annotations

import difflib
import glob
import json
import os
import re
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq, TaggedScalar
from ruamel.yaml.constructor import ConstructorError, DuplicateKeyError, RoundTripConstructor
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import ScalarNode
from ruamel.yaml.reader import ReaderError

from harness.errors import InputError
from harness.models import CodeAssertion, Config, LLMAssertion, Task

Model = TypeVar("Model", bound=BaseModel)
Location = tuple[str | int, ...]

LARGEST_DEFINITION = 1 << 20
"""Limit for the characters of a task or config file, and for its values with aliases expanded: YAML is slow to read."""


def load_task(path: Path | str) -> Task:
    """Load a task from YAML or JSON, with absolute paths.

    InputError names the file, line and key of every mistake, or a path that is missing.
    """
    path = Path(path)
    task = _load(path, Task)
    return task.model_copy(
        update={
            name: _existing(path, name, getattr(task, name))
            for name in ("fixture_path", "hidden_path", "solution_path")
        }
    )


def load_config(path: Path | str) -> Config:
    """Load a config from YAML or JSON, as `load_task` does."""
    path = Path(path)
    config = _load(path, Config)
    for name in ("claude_md", "agents_md"):
        _warn_of_lost_text(path, name, getattr(config, name))
    updates: dict[str, Any] = {
        name: _existing(path, name, getattr(config, name)) for name in ("skills_path", "snapshot")
    }
    if isinstance(config.mcp_config, Path):
        updates["mcp_config"] = _existing(path, "mcp_config", config.mcp_config)
    return config.model_copy(update=updates)


def _warn_of_lost_text(source: Path, key: str, text: str | None) -> None:
    """Warn of a text that the agent would not get: YAML reads it as a comment, or it is the name of a file."""
    if text is not None:
        if os.path.isfile(source.parent / text):  # noqa: PTH113 - a text may be too long for the name of a file
            warnings.warn(
                f"{source}: {key} is the text {text!r} itself, though there is a file of that name; write its content "
                f"below `{key}: |`",
                stacklevel=3,
            )
        return
    comment = re.search(rf"^{key}:[ \t]*(?:\n[ \t]+)?(#.*)", read_text(source), re.MULTILINE)
    if comment:
        warnings.warn(
            f"{source}: {key} is empty, since YAML takes {comment[1].rstrip()!r} for a comment; write the text below "
            f"`{key}: |`",
            stacklevel=3,
        )


def load_tasks(pattern: str) -> list[Task]:
    """Load the tasks of all files that a glob matches, sorted by path; ids must be unique."""
    return _load_all(pattern, load_task, "id")


def load_configs(pattern: str) -> list[Config]:
    """Load the configs of all files that a glob matches, sorted by path; names must be unique."""
    return _load_all(pattern, load_config, "name")


def expand_glob(pattern: str) -> list[Path]:
    """Return the files that match, sorted; InputError if none does. The pattern may be absolute and use ~ and **."""
    # Path.glob refuses absolute patterns
    paths = sorted(Path(p) for p in glob.glob(str(Path(pattern).expanduser()), recursive=True))  # noqa: PTH207
    files = [p for p in paths if p.is_file()]
    if not files:
        raise InputError(f"{pattern}: no file matches; quote the pattern so that the shell does not expand it")
    return files


def read_text(path: Path) -> str:
    """Read a text file without its byte order mark; InputError if it cannot be read or is not UTF-8."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start})") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error


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


def _load_all(pattern: str, load: Callable[[Path], Model], key: str) -> list[Model]:
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


def _load(path: Path, model: type[Model]) -> Model:
    data = _parse(path)
    if not isinstance(data, CommentedMap):
        keys = ", ".join(list(model.model_fields)[:3])
        raise InputError(f"{path}:1: must be a mapping of keys such as {keys}")
    try:
        return model.model_validate(_plain(data, path))
    except ValidationError as error:
        problems = dict.fromkeys(_explain(path, data, detail, model) for detail in error.errors())
        raise InputError("\n".join(problems)) from error


class _Constructor(RoundTripConstructor):
    """Refuses tags, keys that are not text, and keys given twice, naming the line of the first."""

    def check_mapping_key(self, node: Any, key_node: Any, mapping: Any, key: Any, value: Any) -> bool:
        if not isinstance(key_node, ScalarNode):
            raise ConstructorError(problem="a key must be plain text", problem_mark=key_node.start_mark)
        if key in mapping:
            first = mapping.lc.key(key)[0] + 1
            text = f"{key}: key is given twice (first in line {first})"
            raise DuplicateKeyError("", node.start_mark, text, key_node.start_mark)
        return True


def _refuse_tag(constructor: RoundTripConstructor, node: Any) -> NoReturn:
    raise ConstructorError(problem=f"the tag {node.tag} means nothing here", problem_mark=node.start_mark)


_Constructor.add_constructor(None, _refuse_tag)


def _parse(path: Path) -> Any:
    """Parse the YAML of a file, with the lines of its keys and items."""
    text = read_text(path)
    if len(text) > LARGEST_DEFINITION:
        raise InputError(
            f"{path}: has {len(text):,} characters; a task or config file has at most {LARGEST_DEFINITION:,}"
        )
    yaml = YAML()
    yaml.Constructor = _Constructor
    try:
        return yaml.load(text)
    except DuplicateKeyError as error:
        raise InputError(f"{path}:{error.problem_mark.line + 1}: {error.problem}") from error
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise InputError(f"{path}:{line}: not YAML ({error.problem})") from error
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise InputError(f"{path}:{line}: not YAML ({error.reason}: {text[error.position]!r})") from error
    except (YAMLError, ValueError) as error:
        raise InputError(f"{path}: not YAML ({error})") from error
    except RecursionError as error:
        raise InputError(f"{path}: nested too deeply") from error


def _plain(data: Any, path: Path) -> Any:
    """Return parsed YAML without positions and comments.

    InputError if it has more values than LARGEST_DEFINITION with its aliases expanded.
    """
    left = [LARGEST_DEFINITION]

    def plain(value: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise InputError(f"{path}: its aliases make more than {LARGEST_DEFINITION:,} values of it")
        if isinstance(value, dict):
            return {_scalar(key): plain(item) for key, item in value.items()}
        if isinstance(value, list):
            return [plain(item) for item in value]
        return _scalar(value)

    return plain(data)


def _scalar(value: Any) -> Any:
    if isinstance(value, TaggedScalar):  # tagged !!str, the one scalar tag that ruamel keeps
        return value.value
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return kind(value)
    return value


MESSAGES = {
    "missing": "required key is missing",
    "union_tag_not_found": "needs `check:` (a code assertion) or `rubric:` (one that a judge decides)",
    "union_tag_invalid": "type must be `code` or `llm`",
}
"""What to say instead of pydantic's own message."""


def _explain(path: Path, data: CommentedMap, detail: ErrorDetails, model: type[BaseModel]) -> str:
    """Describe one problem in one line, with the innermost key of the file that it concerns."""
    parts = list(detail["loc"])
    if detail["type"] == "unknown_scoring_key":
        parts.append(detail["ctx"]["key"])
    where, line = _place(data, parts)
    message = MESSAGES.get(detail["type"], detail["msg"].removeprefix("Value error, "))
    if detail["type"] == "missing":
        where = (*where, parts[-1])
    if detail["type"] == "extra_forbidden":
        members: dict[object, type[BaseModel]] = {"code": CodeAssertion, "llm": LLMAssertion}
        fields = next((members[part] for part in parts if part in members), model).model_fields
        close = difflib.get_close_matches(str(where[-1]), fields, n=1)
        message = "unknown key; " + (f"did you mean {close[0]}?" if close else f"known: {', '.join(fields)}")
    return f"{path}:{line}: {'.'.join(map(str, where)) or 'file'}: {message}"


def _place(data: CommentedMap, parts: Sequence[str | int]) -> tuple[Location, int]:
    """Return the innermost key or item on a path of parts, and its line, from 1.

    Parts that the file does not have are skipped, since pydantic adds the names of union members.
    """
    where: Location = ()
    line, value = 0, data
    for part in parts:
        if isinstance(value, CommentedMap) and part in value:
            line = value.lc.key(part)[0] if part in value.lc.data else line  # a merged key has no line of its own
        elif isinstance(value, CommentedSeq) and isinstance(part, int) and part < len(value):
            line = value.lc.item(part)[0]
        else:
            continue
        where, value = (*where, part), value[part]
    return where, line + 1


def _existing(source: Path, key: str, value: Path | None) -> Path | None:
    """Return the absolute path of what a definition file names, relative to that file and with ~ expanded."""
    if value is None:
        return None
    path = (source.parent / value.expanduser()).resolve()
    if not path.exists():
        raise InputError(f"{source}: {key}: {path} does not exist (paths are relative to the file that names them)")
    return path

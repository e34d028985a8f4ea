"""How Harbor sees a folder of tasks; run by Harbor's own Python: harbor_view.py FOLDER

Prints one JSON object: for each task directory its content digest, and everything in it that Harbor would refuse, skip
or silently ignore. Harbor reads task.toml leniently (an unknown key is no error, a broken task is left out of a run),
so the schema is made strict here.
"""

from __future__ import annotations

import json
import sys
import tomllib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-not-found,import-untyped,unused-ignore]
from harbor.models.task.config import TaskConfig  # type: ignore[import-not-found]
from harbor.models.task.task import Task  # type: ignore[import-not-found]
from harbor.publisher.packager import Packager  # type: ignore[import-not-found]


def forbid_unknown_keys(schema: Any) -> Any:
    """Return `schema` with every object closed that does not say what further keys it takes."""
    if isinstance(schema, list):
        return [forbid_unknown_keys(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: forbid_unknown_keys(value) for key, value in schema.items()}
    if closed.get("type") == "object" and "properties" in closed:
        closed.setdefault("additionalProperties", False)
    return closed


def faults(folder: Path, validator: jsonschema.Draft202012Validator) -> Iterator[str]:
    """Yield what is wrong with the task in `folder`, one line each."""
    text = (folder / "task.toml").read_text(encoding="utf-8")
    for error in validator.iter_errors(tomllib.loads(text)):
        yield f"task.toml: {'.'.join(map(str, error.absolute_path))}: {error.message}"
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        TaskConfig.model_validate_toml(text)
    if not Task.is_valid_dir(folder):
        yield "a run would skip this folder"
    config = Task(folder).config
    if config.task is None or not config.task.name:
        yield "task.toml: no task.name, cannot be registered"
    if config.agent.timeout_sec is None:
        yield "task.toml: no agent.timeout_sec, an agent may run for ever"
    for needed in ("environment/Dockerfile", "solution/solve.sh", "tests/test.sh"):
        if not (folder / needed).is_file():
            yield f"no {needed}"
    for path in folder.glob("[st]*/*.sh"):
        content = path.read_bytes()
        if not content.startswith(b"#!") or b"\r\n" in content:
            yield f"{path.name}: no shebang, or lines that end in CRLF"


def view(root: Path) -> dict[str, dict[str, Any]]:
    """Return digest and faults of each task directory in `root`, by name."""
    validator = jsonschema.Draft202012Validator(forbid_unknown_keys(TaskConfig.model_json_schema()))
    tasks: dict[str, dict[str, Any]] = {}
    owners: dict[str, str] = {}
    for folder in sorted(path for path in root.iterdir() if path.is_dir()):
        found: list[str] = []
        digest = name = ""
        try:
            found += faults(folder, validator)
            name = Task(folder).name
            digest = Packager.compute_content_hash(folder)[0]
        except Exception as error:
            found.append(f"{type(error).__name__}: {error}")
        if name and owners.setdefault(name, folder.name) != folder.name:
            found.append(f"task.name {name} is also that of {owners[name]}")
        tasks[folder.name] = {"digest": digest, "faults": found}
    return tasks


if __name__ == "__main__":
    print(json.dumps(view(Path(sys.argv[1]))))

"""LoCoBench-Agent's own conventions: what its ids mean, and who its tasks are credited to.

No other module knows them. Records carry the same facts as fields, so scenarios from elsewhere do not need them.
"""

from __future__ import annotations

import re
from typing import Any

from locobench.dataset.catalog import DIFFICULTIES
from locobench.dataset.scenario import plain_name
from locobench.shared.errors import InputError

SOURCE = "locobench"
AUTHORS = ("Salesforce AI Research",)


def parse_id(scenario_id: str, category: str) -> dict[str, str]:
    """Parse `language` and `project_id` from `{language}_{domain}_{complexity}_{NNN}_{category}_{difficulty}_{NN}`.

    The project ends where the category's name begins: a domain may hold underscores, so counting them does not work.

    Args:
        category: the scenario's `task_category`.

    Raises:
        ValueError: the id is not a plain name, or does not end in category, difficulty and number.
    """
    plain_name(scenario_id)
    end = rf"_{re.escape(category)}_(?:{'|'.join(DIFFICULTIES)})_[0-9]+"
    match = re.fullmatch(rf"(?P<project_id>.+?){end}", scenario_id)
    if match is None:
        raise ValueError(f"does not end in _{category}_<difficulty>_<number>, and the task's category is {category}")
    return {"language": scenario_id.partition("_")[0], "project_id": match["project_id"]}


def complete(data: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the raw scenario from `<name>.json` with every field of a record filled in.

    A scenario with a `source` is not LoCoBench-Agent's: it has its own language, project_id and authors.

    Raises:
        InputError: the id is not the file's name, or is not one of LoCoBench-Agent's; the category is missing.
    """
    scenario_id = data.get("id")
    if scenario_id is None:
        raise InputError("id: missing")
    if scenario_id != name:
        raise InputError(f"id: {scenario_id!r:.80} is not the file's name")
    record = dict(data)
    if "source" not in data:
        category = data.get("task_category")
        if not isinstance(category, str):
            raise InputError(f"task_category: {'missing' if category is None else 'not a string'}")
        try:
            record |= parse_id(name, category)
        except ValueError as error:
            raise InputError(f"id: {error}") from None
        record |= {"source": SOURCE, "authors": AUTHORS}
    if isinstance(files := data.get("context_files"), list):
        # Some projects list paths with doubled separators: `a//b/` is `a/b`.
        record["context_files"] = [
            "/".join(part for part in path.split("/") if part)
            if isinstance(path, str) and "//" in f"/{path}/"
            else path
            for path in files
        ]
    metadata = data.get("metadata")
    if isinstance(metadata, dict) and metadata.get("files_count") is not None:
        record["files_count"] = metadata["files_count"]
    elif isinstance(files, list):
        record["files_count"] = len(files)
    return record

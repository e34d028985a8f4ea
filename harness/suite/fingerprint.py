"""Whether two runs are the same experiment: hashes over all content that their tasks and configs name."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from harness.host import tree
from harness.models import Config, Fingerprints, Task
from harness.suite.treatment import mcp_servers

TASK_NOTES = frozenset({"description", "difficulty", "tags", "language", "solution_path"})
"""Fields of a task that neither the agent nor a grader sees."""

CONFIG_NOTES = frozenset({"description"})


def fingerprints(task: Task, config: Config) -> Fingerprints:
    """Fingerprints of one run; the config carries the model that the run uses."""
    return Fingerprints(task=task_fingerprint(task), config=config_fingerprint(config))


def task_fingerprint(task: Task) -> str:
    """Over the prompt, assertions, limits, and the content of the fixture and the hidden files."""
    paths = {"fixture_path": task.fixture_path, "hidden_path": task.hidden_path}
    data = task.model_dump(mode="json", exclude={*TASK_NOTES, *paths})
    return _hash({**data, **{name: _content(path) for name, path in paths.items()}})


def config_fingerprint(config: Config) -> str:
    """Over everything the agent is given, with the content of skills and MCP files."""
    data = config.model_dump(mode="json", exclude={*CONFIG_NOTES, "skills_path", "mcp_config"})
    return _hash({**data, "skills_path": _content(config.skills_path), "mcp_servers": mcp_servers(config)})


def _content(path: Path | None) -> str | None:
    if path is None:
        return None
    path = path.expanduser()
    return tree.digest(path) if path.is_dir() else None


def _hash(data: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]

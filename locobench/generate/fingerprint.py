"""Detect whether a task is up to date: one digest of its record, its project, the options and this code."""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields, replace
from functools import cache
from pathlib import Path

import pydantic_core

from locobench.dataset.catalog import TEMPLATES, load_language
from locobench.generate.options import Options
from locobench.scoring.grader import grader_digest
from locobench.shared.installation import REPOSITORY, SCRIPTS

# The code that decides what a task contains: changing it makes every task out of date.
TASK_CODE = (
    "reading.py",
    "shared/*.py",
    "dataset/*.py",
    *(f"harbor/{name}.py" for name in ("__init__", "mcp")),
    "scoring/*.py",
    *(f"generate/{name}.py" for name in ("copying", "fingerprint", "folder", "make", "options", "project")),
)


def generator_files() -> dict[str, Path]:
    """Return the files behind every task by name: templates (without the language table), adapter.py, `TASK_CODE`."""
    # Named relative to their folder: an installed package keeps the templates elsewhere than a checkout.
    files = {f"templates/{path.relative_to(TEMPLATES)}": path for path in TEMPLATES.rglob("*") if path.is_file()}
    files.pop("templates/environment/languages.toml", None)
    files["adapter.py"] = SCRIPTS / "adapter.py"
    code = REPOSITORY / "locobench"
    for pattern in TASK_CODE:
        files |= {f"locobench/{path.relative_to(code)}": path for path in code.glob(pattern)}
    return {name: path for name, path in files.items() if "__pycache__" not in path.parts}


@cache
def generator_digest() -> str:
    """Return a digest of `generator_files`."""
    total = hashlib.sha256()
    for name, path in sorted(generator_files().items()):
        total.update(f"{name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return total.hexdigest()


def fingerprint(record: bytes, language: str, content: str, options: Options) -> str:
    """Return the digest of everything a task is made from: record, project content, templates, code and options."""
    parts = (hashlib.sha256(record.strip()).hexdigest(), content, generator_digest(), _chosen(language, options))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def content_fingerprint(record: bytes, language: str, content: str, options: Options) -> str:
    """Return the fingerprint that the task would have with its code at hand, without MCP servers and without a pilot.

    Tasks that differ only in these share it, so a comparison can recognise them as the same task.
    """
    return fingerprint(record, language, content, replace(options, mcp_servers=(), closed_book=False, pilot_runs=()))


@cache
def _chosen(language: str, options: Options) -> str:
    chosen = {field.name: getattr(options, field.name) for field in fields(options)}
    chosen |= {
        "verifier": grader_digest(options.verifier),
        "languages": load_language(language, options.languages),
    }
    return json.dumps(pydantic_core.to_jsonable_python(chosen), sort_keys=True)

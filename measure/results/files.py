"""Write results to files and read them back: whole, without secrets, and on request with debugging details."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from locobench.shared.errors import InputError
from locobench.shared.files import read_text, whole_file
from locobench.shared.grouping import grouped
from locobench.shared.validation import first_problem
from measure.records import (
    Batch,
    ConfigSnapshot,
    CriterionScore,
    EvalResult,
    ExecutionTrace,
    FileChange,
    GradeResult,
    ResultsFile,
    ToolCall,
)
from measure.secrets.redaction import Redactor

DEFAULT_RESULTS_DIR = Path("evals/results")


def unused(folder: Path, name: str, suffix: str) -> Path:
    """Return a new file name for results; the time alone would not be unique within a second."""
    return folder / f"{name}_{datetime.now():%Y%m%d_%H%M%S}_{secrets.token_hex(4)}{suffix}"


def load_results(path: Path | str) -> list[EvalResult]:
    """Read the results of a file; those of a matrix that stopped early say so in `batch`.

    InputError if the file cannot be read.
    """
    path = Path(path)
    file = load_results_file(path)
    if file.complete:
        return file.results
    batch = Batch(name=path.name, present=len(file.results), finished=False)
    return [r if r.batch else r.model_copy(update={"batch": batch}) for r in file.results]


def load_results_file(path: Path) -> ResultsFile:
    """Read a whole results file with its header; InputError if it is unreadable or of a newer version."""
    text = read_text(path)
    try:
        return ResultsFile.model_validate_json(text)
    except ValidationError as error:
        what = first_problem(error, "file").replace("file: Invalid JSON:", "not JSON:")
        raise InputError(f"{path}: {what}; is this a results file?") from error


def with_run_indices(results: Iterable[EvalResult]) -> list[EvalResult]:
    """Number the runs of each task, config and model in the order given; return them sorted by these."""
    groups = grouped(results, lambda result: (result.task_id, result.config_name, result.model))
    return [
        result.model_copy(update={"run_index": index})
        for _, group in sorted(groups.items())
        for index, result in enumerate(group)
    ]


SEARCHED: dict[type[BaseModel], tuple[str, ...]] = {
    ExecutionTrace: (
        *("raw_output", "tool_calls", "file_changes", "config_snapshot"),
        *("result", "claude_prompt", "claude_response", "stderr", "error", "doubt"),
    ),
    ToolCall: ("input", "output", "error"),
    FileChange: ("path", "diff", "content_after"),
    ConfigSnapshot: ("claude_md",),
    GradeResult: ("details", "reasoning", "full_output", "grading_prompt", "criteria_scores"),
    CriterionScore: ("criterion", "reasoning", "evidence"),
}
"""Fields with text by an agent, a tool or a judge; ids, models, names and outcomes stay as they are."""


def without_secrets(result: EvalResult, redactor: Redactor) -> EvalResult:
    """Remove secrets from a result, since agents print their environment and write it to files."""
    trace = _clean(result.trace, redactor)
    return grades_without_secrets(result.model_copy(update={"trace": trace}), redactor)


def grades_without_secrets(result: EvalResult, redactor: Redactor) -> EvalResult:
    """Remove secrets from the grades of a result; the rest stays as it was."""
    return result.model_copy(update={"grades": _clean(result.grades, redactor)})


def _clean(value: Any, redactor: Redactor) -> Any:
    if isinstance(value, BaseModel):
        fields = {name: _clean(getattr(value, name), redactor) for name in SEARCHED[type(value)]}
        return value.model_copy(update=fields)
    if isinstance(value, list):
        return [_clean(item, redactor) for item in value]
    return redactor.json(value)


def save_results(
    results: Sequence[EvalResult], path: Path, *, stop_reason: str = "", summary: Mapping[str, Any] | None = None
) -> None:
    """Write a results file without secrets, result by result, since all together may not fit into memory once more.

    A `stop_reason` marks the file as incomplete; a `summary` comes before the results.
    """
    redactor = Redactor(os.environ)
    header = ResultsFile(
        timestamp=datetime.now(UTC),
        num_results=len(results),
        complete=not stop_reason,
        stop_reason=redactor(stop_reason),
        summary=dict(summary or {}),
        results=[],
    )
    with whole_file(path, durable=True) as stream:
        stream.write(header.model_dump_json().removesuffix("]}").encode())
        for number, result in enumerate(results):
            stream.write(b",\n" if number else b"\n")
            stream.write(without_secrets(result, redactor).model_dump_json(indent=1).encode())
        stream.write(b"\n]}\n")


def debug_json(results: Sequence[EvalResult]) -> str:
    """Return the results as JSON without secrets, with summaries of changes, calls and grades for debugging."""
    redactor = Redactor(os.environ)
    return json.dumps({"results": [_debug(without_secrets(r, redactor)) for r in results]}, indent=1)


def _debug(result: EvalResult) -> dict[str, Any]:
    data = result.model_dump(mode="json")
    trace, grades = data["trace"], data["grades"]
    trace["file_changes_summary"] = [f"{change['action']} {change['path']}" for change in trace["file_changes"]]
    trace["tool_call_timeline"] = [
        {key: call[key] for key in ("timestamp", "name", "error", "duration_seconds")} for call in trace["tool_calls"]
    ]
    data["grading_breakdown"] = [
        {"id": grade["assertion_id"], **{key: grade[key] for key in ("passed", "score", "weight", "status")}}
        for grade in grades
    ]
    return data

"""How are results written to files and read back? Whole, without secrets, and on request with debugging details."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from harness.errors import InputError
from harness.host.redaction import Redactor
from harness.models import SCHEMA_VERSION, Batch, EvalResult, ExecutionTrace, ResultsFile
from harness.suite.load import read_text
from locobench.shared.files import whole_file
from locobench.shared.validation import first_problem

R = TypeVar("R", bound=BaseModel)

DEFAULT_RESULTS_DIR = Path("evals/results")


def unused(folder: Path, name: str, suffix: str) -> Path:
    """Return a new file name for results; the time alone would not be unique within a second."""
    return folder / f"{name}_{datetime.now():%Y%m%d_%H%M%S}_{secrets.token_hex(4)}{suffix}"


def load_results(path: Path | str) -> list[EvalResult]:
    """Read the results of a file; those of a matrix that stopped early say so in `batch`.

    The file holds an object with `results`, or a bare list; InputError if it cannot be read.
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
    return f"{first_problem(error, 'file')}; is this a results file?"


def _too_new(version: int) -> str:
    return f"schema_version {version} is newer than {SCHEMA_VERSION}, which this harness reads; update it"


def with_run_indices(results: Iterable[EvalResult]) -> list[EvalResult]:
    """Number the runs of each task, config and model in the order given; return them sorted by these."""
    groups: dict[tuple[str, str, str], list[EvalResult]] = defaultdict(list)
    for result in results:
        groups[result.task_id, result.config_name, result.model].append(result)
    return [
        result.model_copy(update={"run_index": index})
        for _, group in sorted(groups.items())
        for index, result in enumerate(group)
    ]


def without_secrets(result: EvalResult, redactor: Redactor) -> EvalResult:
    """Remove secrets from a result, since agents print their environment and write it to files.

    Only text by an agent, a tool or a judge is searched; ids, models, names and outcomes stay as they are.
    """
    return grades_without_secrets(result.model_copy(update={"trace": _clean_trace(result.trace, redactor)}), redactor)


def _clean_trace(trace: ExecutionTrace, redactor: Redactor) -> ExecutionTrace:
    changed: dict[str, Any] = {
        "raw_output": redactor.json(trace.raw_output),
        "tool_calls": [
            _cleaned(call, redactor, ("output", "error")).model_copy(update={"input": redactor.json(call.input)})
            for call in trace.tool_calls
        ],
        "file_changes": [
            _cleaned(change, redactor, ("path", "diff", "content_after")) for change in trace.file_changes
        ],
        "config_snapshot": _cleaned(trace.config_snapshot, redactor, ("claude_md",)),
    }
    texts = ("result", "claude_prompt", "claude_response", "stderr", "error")
    return _cleaned(trace, redactor, texts).model_copy(update=changed)


def grades_without_secrets(result: EvalResult, redactor: Redactor) -> EvalResult:
    """Remove secrets from the grades of a result; the rest stays as it was."""
    grades = [
        _cleaned(grade, redactor, ("details", "reasoning", "full_output", "grading_prompt")).model_copy(
            update={
                "criteria_scores": [
                    _cleaned(c, redactor, ("criterion", "reasoning", "evidence")) for c in grade.criteria_scores
                ]
            }
        )
        for grade in result.grades
    ]
    return result.model_copy(update={"grades": grades})


def _cleaned(record: R, redactor: Redactor, fields: tuple[str, ...]) -> R:
    return record.model_copy(update={f: redactor(text) for f in fields if (text := getattr(record, f))})


def save_results(results: Sequence[EvalResult], path: Path, *, stop_reason: str = "") -> None:
    """Write a results file without secrets; a `stop_reason` marks it as incomplete."""
    redactor = Redactor(os.environ)
    clean = (without_secrets(result, redactor) for result in results)
    with whole_file(path, durable=True) as stream:
        for part in results_parts(clean, len(results), stop_reason=redactor(stop_reason)):
            stream.write(part.encode())


def results_json(results: Sequence[EvalResult], *, stop_reason: str = "") -> str:
    """Return the text of a results file; a `stop_reason` marks it as incomplete."""
    return "".join(results_parts(results, len(results), stop_reason=stop_reason))


def results_parts(results: Iterable[EvalResult], count: int, *, stop_reason: str = "") -> Iterator[str]:
    """Yield the text of a results file piece by piece, since all runs together may not fit into memory."""
    header = ResultsFile(
        timestamp=datetime.now(UTC),
        num_results=count,
        complete=not stop_reason,
        stop_reason=stop_reason,
        results=[],
    ).model_dump_json(indent=1)
    begin, end = header.removesuffix("[]\n}"), "\n ]\n}" if count else "]\n}"
    assert begin != header, "the results are the last field"
    yield f"{begin}["
    for number, result in enumerate(results):
        yield (",\n  " if number else "\n  ") + result.model_dump_json(indent=1).replace("\n", "\n  ")
    yield end


def debug_json(results: Sequence[EvalResult]) -> str:
    """Return the results, without secrets, with what one looks for first when a run went wrong."""
    redactor = Redactor(os.environ)
    return json.dumps({"results": [_debug(without_secrets(r, redactor)) for r in results]}, indent=1)


def _debug(result: EvalResult) -> dict[str, Any]:
    data = result.model_dump(mode="json")
    data["trace"]["file_changes_summary"] = [f"{c.action} {c.path}" for c in result.trace.file_changes]
    data["trace"]["tool_call_timeline"] = [
        {
            "timestamp": call.timestamp.isoformat() if call.timestamp else None,
            "name": call.name,
            "failed": call.error is not None,
            "duration_seconds": call.duration_seconds,
        }
        for call in result.trace.tool_calls
    ]
    data["grading_breakdown"] = [
        {"id": g.assertion_id, "passed": g.passed, "score": g.score, "weight": g.weight, "status": g.status}
        for g in result.grades
    ]
    return data

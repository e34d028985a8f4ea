"""How results get to disk: a journal that survives a kill, results files written whole, secrets left out."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from pydantic import ValidationError

from harness.claude.environment import resolve_env
from harness.errors import InputError
from harness.models import Config, EvalResult, ResultsFile

SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|CUSTOM_HEADERS", re.IGNORECASE)
SHORTEST_SECRET = 8
"""Characters; shorter values are words that occur anywhere."""

REDACTED = "[REDACTED]"


class Redactor:
    """Takes the values of secret environment variables out of JSON text."""

    def __init__(self, configs: Iterable[Config] = ()) -> None:
        """Knows the secrets of this process and those that the configs give to their agents."""
        variables = dict(os.environ)
        for config in configs:
            variables.update(resolve_env(config))
        values = {v for n, v in variables.items() if SECRET_NAME.search(n) and len(v) >= SHORTEST_SECRET}
        # longest first, since one secret may contain another
        self._secrets = sorted((json.dumps(v, ensure_ascii=False)[1:-1] for v in values), key=len, reverse=True)

    def __call__(self, text: str) -> str:
        """The text without secrets."""
        for secret in self._secrets:
            text = text.replace(secret, REDACTED)
        return text

    def clean(self, result: EvalResult) -> EvalResult:
        """The result without secrets: agents print their environment, and write it to files."""
        text = result.model_dump_json()
        cleaned = self(text)
        return result if cleaned == text else EvalResult.model_validate_json(cleaned)


class Journal:
    """Append-only JSONL of results: each is on disk before the next one starts to be written.

    A context manager that holds a lock, so that two matrices cannot share one journal.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.results: list[EvalResult] = []
        """What the journal held when it was opened."""
        self._lock = FileLock(path.with_name(f".{path.name}.lock"))

    def __enter__(self) -> Journal:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._lock.acquire(timeout=0)
        except Timeout as error:
            raise InputError(f"{self.path}: another matrix is writing this journal") from error
        try:
            self.results = read_journal(self.path)
            self._drop_torn_line()
            self._file = self.path.open("ab")
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._lock.release()
        Path(self._lock.lock_file).unlink(missing_ok=True)

    def append(self, result: EvalResult) -> None:
        """Write one result and wait until the disk has it."""
        self._file.write(result.model_dump_json().encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def _drop_torn_line(self) -> None:
        if self.path.exists():
            content = self.path.read_bytes()
            whole = content.rfind(b"\n") + 1
            if whole < len(content):
                os.truncate(self.path, whole)


def read_journal(path: Path) -> list[EvalResult]:
    """Results of a journal, in the order they were written; a last line that a kill cut off is left out.

    InputError when any other line is no result.
    """
    if not path.exists():
        return []
    results = []
    *lines, _torn = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, start=1):
        try:
            results.append(EvalResult.model_validate_json(line))
        except ValidationError as error:
            raise InputError(f"{path}:{number}: not a result; remove the line to go on without it") from error
    return results


def results_json(results: list[EvalResult], *, stop_reason: str = "") -> str:
    """The text of a results file; a `stop_reason` marks it as incomplete."""
    return ResultsFile(
        timestamp=datetime.now(UTC),
        num_results=len(results),
        complete=not stop_reason,
        stop_reason=stop_reason,
        results=results,
    ).model_dump_json(indent=1)


def debug_json(results: list[EvalResult]) -> str:
    """The same results with what one looks for first when a run went wrong."""
    summary = {
        "total_results": len(results),
        "total_passed": sum(r.passed for r in results),
        "total_failed": sum(r.measured and not r.passed for r in results),
        "not_measured": sum(not r.measured for r in results),
        "total_files_changed": sum(len(r.trace.file_changes) for r in results),
        "total_tool_calls": sum(len(r.trace.tool_calls) for r in results),
        "hit_turn_limit_count": sum(r.trace.hit_turn_limit for r in results),
        "unique_tasks": len({r.task_id for r in results}),
        "unique_configs": len({r.config_name for r in results}),
    }
    return json.dumps({"execution_summary": summary, "results": [_debug(r) for r in results]}, indent=1)


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

"""Reads a plain table as results. It has a line per run: task, arm and reward."""

from __future__ import annotations

import csv
import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from locobench.harbor.trial import BY_NAME, RewardError, RewardScale
from locobench.shared.errors import InputError
from locobench.shared.files import read_text
from locobench.shared.validation import first_problem
from measure.records import PASS_SCORE, ErrorKind, EvalResult, ExecutionTrace, GradeResult, Outcome
from measure.results.files import with_run_indices

ALIASES = {
    "task": ("task", "task_id", "instance_id", "task_name"),
    "arm": ("arm", "variant", "condition", "treatment"),
    "reward": ("reward", "score", "resolved", "passed", "success", "correct"),
}
"""Names of the columns in tables of other harnesses, the preferred one first; in any case."""

PASSED = {"true", "pass", "passed", "yes", "resolved", "success", "1", "1.0"}
FAILED = {"false", "fail", "failed", "no", "unresolved", "failure", "0", "0.0"}
LOST = {"lost", "error", "n/a"}
"""Words for a reward; a lost run counts in no rate."""


class Row(BaseModel):
    """A run; any further column is a group."""

    model_config = ConfigDict(extra="allow", str_strip_whitespace=True)

    task: str = Field(min_length=1)
    arm: str = Field(min_length=1)
    reward: str
    run: str = ""
    config: str = ""
    model: str = ""
    category: str = ""
    difficulty: str = ""
    language: str = ""


def load_table(path: Path, scale: RewardScale = BY_NAME) -> dict[str, list[EvalResult]]:
    """Read the results of a CSV table by arm, in the order in which the arms appear.

    A table has the columns `task`, `arm` and `reward` and one line per run; ALIASES has other names for them. Without
    an arm, all runs are of one, named after the file. The columns `config`, `model`, `category`, `language` and
    `difficulty` are optional; any other column is a group. A reward is a number in the scale's range, or a word. A run
    passes with a reward of PASS_SCORE. Cells are parted by commas, semicolons or tabs.

    Raises:
        InputError: names the row and the column; the header is row 1.
    """
    arms: dict[str, list[EvalResult]] = defaultdict(list)
    seen: Counter[tuple[str, ...]] = Counter()
    written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    where = f"{path}: row 1"
    try:
        for number, cells, comma in _rows(path, scale):
            where = f"{path}: row {number}"
            seen[tuple(cells.values())] += 1
            row = Row.model_validate({"arm": path.stem, **cells})
            arms[row.arm].append(_result(row, _reward(where, row.reward, scale, comma), f"{path}:{number}", written))
    except csv.Error as error:
        raise InputError(f"{path}: not a table ({error})") from error
    except ValidationError as error:
        raise InputError(f"{where}, column {first_problem(error)}; a table has task,arm,reward") from error
    if not arms:
        raise InputError(f"{path}: no rows below the header")
    copies = math.gcd(*seen.values())
    if copies > 1:
        raise InputError(
            f"{path}: every row is there {copies} times; remove the copies, or number the runs in a column 'run'"
        )
    return {arm: with_run_indices(results) for arm, results in arms.items()}


def _rows(path: Path, scale: RewardScale) -> Iterator[tuple[int, dict[str, str], bool]]:
    """Yield the number and cells of each row that is not empty, and whether its numbers have a decimal comma."""
    lines = read_text(path).lstrip("\ufeff").splitlines()
    first = 1 if lines and lines[0].lower().startswith("sep=") else 0  # written by spreadsheets
    head = lines[first] if len(lines) > first else ""
    delimiter = max(",;\t", key=head.count)
    reader = csv.reader(lines[first:], delimiter=delimiter)
    header = [name.strip() for name in next(reader, [])]
    while header and not header[-1]:  # empty columns at the right, also written by spreadsheets
        header.pop()
    if len(set(header) - {""}) < len(header):
        raise InputError(f"{path}: row {first + 1} has a column twice, or one without a name")
    names = _names(header, scale)
    for values in reader:
        number = reader.line_num + first
        if not any(value.strip() for value in values):
            continue
        if len(values) < len(header) or any(value.strip() for value in values[len(header) :]):
            count = len(header)
            raise InputError(f"{path}: row {number} has more or fewer cells than the header, which has {count}")
        yield number, dict(zip(names, values, strict=False)), delimiter == ";"


def _names(header: list[str], scale: RewardScale) -> list[str]:
    """Return the header with the names of Row; the column of the scale's key is the reward if there is one."""
    folded = [name.lower() for name in header]
    renamed = list(header)
    for name, aliases in ALIASES.items():
        wanted = (scale.key.lower(), *aliases) if name == "reward" else aliases
        found = next((alias for alias in wanted if alias in folded), None)
        if found:
            renamed[folded.index(found)] = name
    known = {name.lower() for name in Row.model_fields}
    return [name.lower() if name.lower() in known and renamed.count(name.lower()) == 0 else name for name in renamed]


def _reward(where: str, text: str, scale: RewardScale, comma: bool) -> float | None:
    """Return the reward in a cell, 0 to 1, or None for a lost run."""
    word = text.lower()
    if word in LOST:
        return None
    if word in PASSED | FAILED and (scale.low, scale.high) == (0.0, 1.0):
        return float(word in PASSED)
    try:
        reward = float(text.replace(",", ".") if comma else text)
    except ValueError:
        told = "is empty" if not text else f"is {text!r}"
        raise InputError(
            f"{where}, column reward {told}; write a number, pass or fail, or lost for a run that says nothing"
        ) from None
    if not scale.low <= reward <= scale.high:
        raise RewardError(f"{where}, column reward is {reward:g}, not between {scale.low:g} and {scale.high:g}")
    return scale.scaled(reward)


def _result(row: Row, reward: float | None, source: str, written: datetime) -> EvalResult:
    passed = reward is not None and reward >= PASS_SCORE
    trace = ExecutionTrace(usage=None, duration_seconds=None, num_turns=None, has_transcript=False)
    if reward is None:
        lost = {"outcome": Outcome.INFRA_ERROR, "error_kind": ErrorKind.GRADING, "error": "lost, by the table"}
        trace = trace.model_copy(update={**lost, "is_error": True})
    grade = [GradeResult(assertion_id="reward", assertion_type="code", passed=passed, score=reward or 0.0)]
    return EvalResult(
        task_id=row.task,
        config_name=row.config or row.arm,
        model=row.model or "none",
        run_index=0,
        timestamp=written,
        trace=trace,
        grades=grade if reward is not None else [],
        overall_score=reward or 0.0,
        passed=passed,
        groups={name: value.strip() for name, value in (row.model_extra or {}).items() if value.strip()},
        source=source,
        category=row.category,
        difficulty=row.difficulty,
        language=row.language,
    )

"""Reads a plain table as results. It has a line per run: task, arm and reward, and what the run took."""

from __future__ import annotations

import csv
import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from locobench.shared.errors import InputError
from locobench.shared.files import read_text
from locobench.shared.validation import Whole, first_problem
from measure.records import PASS_SCORE, ErrorKind, EvalResult, ExecutionTrace, GradeResult, Outcome, TokenUsage
from measure.results.files import with_run_indices
from measure.results.rewards import BY_NAME, RewardScale

ALIASES = {
    "task": ("task", "task_id", "instance_id", "task_name"),
    "arm": ("arm", "variant", "condition", "treatment"),
    "reward": ("reward", "score", "resolved", "passed", "success", "correct"),
    "cost_usd": ("cost_usd", "cost"),
    "seconds": ("seconds", "duration_seconds"),
    "tokens": ("tokens", "total_tokens"),
    "turns": ("turns", "num_turns"),
}
"""Names of the columns in tables of other harnesses, the preferred one first; in any case."""

PASSED = {"true", "pass", "passed", "yes", "resolved", "success", "1", "1.0"}
FAILED = {"false", "fail", "failed", "no", "unresolved", "failure", "0", "0.0"}
LOST = {"lost", "error", "n/a"}
"""Words for a reward; a lost run counts in no rate."""

_UNLESS_EMPTY = BeforeValidator(lambda text: text.strip() or None)
Amount = Annotated[Annotated[float, Field(ge=0, allow_inf_nan=False)] | None, _UNLESS_EMPTY]
Count = Annotated[Annotated[Whole, Field(ge=0)] | None, _UNLESS_EMPTY]
"""What a run took; None for an empty cell."""


class Row(BaseModel):
    """A run."""

    model_config = ConfigDict(str_strip_whitespace=True)

    task: str = Field(min_length=1)
    arm: str = Field(min_length=1)
    reward: str
    run: str = ""
    config: str = ""
    model: str = ""
    category: str = ""
    difficulty: str = ""
    language: str = ""
    cost_usd: Amount = None
    seconds: Amount = None
    tokens: Count = None
    """Those of the cache included."""
    turns: Count = None
    groups: dict[str, str] = {}
    """Every other column."""


def load_table(path: Path, scale: RewardScale = BY_NAME) -> dict[str, list[EvalResult]]:
    """Read the results of a CSV table by arm, in the order in which the arms appear.

    A table has the columns of Row, of which only `task` and `reward` must be there, and a line for each run. Without
    an arm, all runs are of one, named after the file. A reward is a number in the scale's range, or a word. A run
    passes with a reward of PASS_SCORE. Cells are parted by commas, semicolons or tabs. InputError names row and column.
    """
    arms: dict[str, list[EvalResult]] = defaultdict(list)
    seen: Counter[tuple[str, ...]] = Counter()
    runs: dict[tuple[str, ...], int] = {}
    written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    where = f"{path}: row 1"
    try:
        for number, cells in _rows(path):
            where = f"{path}: row {number}"
            seen[tuple(cells.values())] += 1
            row, column = _row(cells, path.stem, scale)
            first = runs.setdefault((row.arm, row.config, row.model, row.task, row.run), number)
            if row.run and first != number:
                raise InputError(
                    f"{where} is run {row.run} of {row.task} again, after row {first}; remove one of them, "
                    "or number a task's runs 1, 2, 3 in column run"
                )
            reward = _reward(f"{where}, column {column}", row.reward, scale)
            arms[row.arm].append(_result(row, reward, f"{path}:{number}", written))
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


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the number and cells of each row that is not empty."""
    lines = read_text(path).splitlines()
    reader = csv.reader(lines, delimiter=max(",;\t", key=(lines or [""])[0].count))
    header = [name.strip() for name in next(reader, [])]
    if len(set(header) - {""}) < len(header):
        raise InputError(f"{path}: row 1 has a column twice, or one without a name")
    for values in reader:
        if len(values) != len(header) and any(values):
            count = len(header)
            raise InputError(
                f"{path}: row {reader.line_num} has more or fewer cells than the header, which has {count}"
            )
        if any(value.strip() for value in values):
            yield reader.line_num, dict(zip(header, values, strict=True))


def _row(cells: dict[str, str], arm: str, scale: RewardScale) -> tuple[Row, str]:
    """Read a row by the names of its columns, and name the reward's: the scale's key if there is such a column."""
    columns = {name.lower(): name for name in cells}
    aliases = ALIASES | {"reward": (scale.key.lower(), *ALIASES["reward"])}
    fields, reward = {"arm": arm}, "reward"
    for field in Row.model_fields:
        found = next((name for name in aliases.get(field, (field,)) if name in columns), None)
        if found and field != "groups":
            name = columns.pop(found)
            fields[field] = cells.pop(name)
            reward = name if field == "reward" else reward
    return Row.model_validate({**fields, "groups": cells}), reward


def _reward(where: str, text: str, scale: RewardScale) -> float | None:
    """Return the reward in a cell, 0 to 1, or None for a lost run."""
    word = text.lower()
    if word in LOST:
        return None
    if word in PASSED | FAILED and (scale.low, scale.high) == (0.0, 1.0):
        return float(word in PASSED)
    try:
        reward = float(text)
    except ValueError:
        reward = math.nan
    if math.isnan(reward):
        told = f"is {text!r}" if text else "is empty"
        raise InputError(f"{where} {told}; write a number, pass or fail, or lost for a run that says nothing")
    return scale.scaled(reward, where)


def _result(row: Row, reward: float | None, source: str, written: datetime) -> EvalResult:
    passed = reward is not None and reward >= PASS_SCORE
    usage = None if row.tokens is None else TokenUsage(input_tokens=row.tokens)
    trace = ExecutionTrace(
        usage=usage, duration_seconds=row.seconds, num_turns=row.turns, cost_usd=row.cost_usd, has_transcript=False
    )
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
        groups={name: value for name, value in row.groups.items() if value},
        source=source,
        category=row.category,
        difficulty=row.difficulty,
        language=row.language,
    )

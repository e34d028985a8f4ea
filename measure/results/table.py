"""How does a plain table become results? It has a line per run: task, arm and reward."""

from __future__ import annotations

import csv
import math
from collections import Counter, defaultdict
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from locobench.shared.errors import InputError
from locobench.shared.files import read_text
from locobench.shared.validation import first_problem
from measure.records import PASS_SCORE, EvalResult, ExecutionTrace, GradeResult
from measure.results.files import with_run_indices


class Row(BaseModel):
    """A run; any further column is a group."""

    model_config = ConfigDict(extra="allow", str_strip_whitespace=True)

    task: str = Field(min_length=1)
    arm: str = Field(min_length=1)
    reward: float = Field(ge=0, le=1, allow_inf_nan=False)
    run: str = ""
    config: str = ""
    model: str = ""
    category: str = ""
    difficulty: str = ""
    language: str = ""


def load_table(path: Path) -> dict[str, list[EvalResult]]:
    """Read the results of a CSV table by arm, in the order in which the arms appear.

    A table has the columns `task`, `arm` and `reward` (0 to 1) and one line per run. The columns `config`, `model`,
    `category`, `language` and `difficulty` are optional; any other column is a group. A run passes with a reward of
    PASS_SCORE.

    Raises:
        InputError: names the row and the column; the header is row 1.
    """
    reader = csv.DictReader(read_text(path).lstrip("\ufeff").splitlines(), restkey="", restval=None)
    arms: dict[str, list[EvalResult]] = defaultdict(list)
    seen: Counter[tuple[str, ...]] = Counter()
    written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    try:
        header = [name.strip() for name in reader.fieldnames or ()]
        if len(set(header) - {""}) < len(header):
            raise InputError(f"{path}: row 1 has a column twice, or one without a name")
        reader.fieldnames = header
        for cells in reader:
            where = f"{path}: row {reader.line_num}"
            if "" in cells or None in cells.values():
                raise InputError(f"{where} has more or fewer cells than the header, which has {len(header)}")
            seen[tuple(cells.values())] += 1
            row = Row.model_validate(cells)
            arms[row.arm].append(_result(row, f"{path}:{reader.line_num}", written))
    except csv.Error as error:
        raise InputError(f"{path}: not a table ({error})") from error
    except ValidationError as error:
        raise InputError(f"{where}, column {first_problem(error)}; a table has task,arm,reward") from error
    if not arms:
        raise InputError(f"{path}: no rows below the header")
    copies = math.gcd(*seen.values())
    if copies > 1:
        raise InputError(
            f"{path}: every row stands there {copies} times; if these are copies remove them, if they are runs number "
            "them in a column 'run'"
        )
    return {arm: with_run_indices(results) for arm, results in arms.items()}


def _result(row: Row, source: str, written: datetime) -> EvalResult:
    passed = row.reward >= PASS_SCORE
    return EvalResult(
        task_id=row.task,
        config_name=row.config or row.arm,
        model=row.model or "none",
        run_index=0,
        timestamp=written,
        trace=ExecutionTrace(usage=None, duration_seconds=None, num_turns=None, has_transcript=False),
        grades=[GradeResult(assertion_id="reward", assertion_type="code", passed=passed, score=row.reward)],
        overall_score=row.reward,
        passed=passed,
        groups={name: value.strip() for name, value in (row.model_extra or {}).items() if value.strip()},
        source=source,
        category=row.category,
        difficulty=row.difficulty,
        language=row.language,
    )

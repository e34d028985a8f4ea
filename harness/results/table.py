"""How does a plain table become results? It has a line per task with both rewards, or per run with its arm."""

from __future__ import annotations

import csv
import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from harness.errors import InputError
from harness.models import PASS_SCORE, EvalResult, ExecutionTrace, GradeResult
from harness.results.files import with_run_indices
from harness.suite.load import read_text

ENDINGS = ("_a", "_b")
SAMPLE = "task,reward_a,reward_b, or task,arm,reward"
KNOWN = frozenset({"task", "run", "reward", "config", "model", "category", "difficulty", "language"})
"""Columns that fill a result's own fields; any other column is a group."""


def load_table(path: Path) -> dict[str, list[EvalResult]]:
    """Read the results of a CSV table by arm, in the order in which the arms appear.

    A table has the columns `task`, `reward_a` and `reward_b` (arms A and B), or `task`, `arm` and `reward` with one
    line per run. Rewards go from 0 to 1. The columns `config`, `model`, `category`, `language` and `difficulty` are
    optional; any other column is a group. In a table of two rewards, a column that ends in _a or _b describes that
    arm alone. A run passes with a reward of PASS_SCORE.

    Raises:
        InputError: names the row and the column; the header is row 1.
    """
    rows = csv.reader(read_text(path).lstrip("\ufeff").splitlines())
    try:
        header = [name.strip() for name in next(rows, [])]
        _check_header(path, header)
        arms: dict[str, list[EvalResult]] = defaultdict(list)
        seen: Counter[tuple[str, ...]] = Counter()
        written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        for number, cells in enumerate(rows, start=2):
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(header):
                raise InputError(f"{path}: row {number} has {len(cells)} cells, the header has {len(header)}")
            row = dict(zip(header, (cell.strip() for cell in cells), strict=True))
            seen[tuple(row.values())] += 1
            for arm, of_arm in _arms(path, number, row):
                column = "reward" if "arm" in row else f"reward_{arm.lower()}"
                arms[arm].append(_result(path, number, column, of_arm, arm, written))
    except csv.Error as error:
        raise InputError(f"{path}: not a table ({error})") from error
    if not arms:
        raise InputError(f"{path}: no rows below the header")
    _refuse_copies(path, seen)
    return {arm: with_run_indices(results) for arm, results in arms.items()}


def _refuse_copies(path: Path, rows: Counter[tuple[str, ...]]) -> None:
    """Refuse a table in which the number of times that each row appears has a common divisor above 1."""
    copies = math.gcd(*rows.values())
    if copies > 1:
        raise InputError(
            f"{path}: every row stands there {copies} times; if these are copies remove them, if they are runs number "
            "them in a column 'run'"
        )


def _check_header(path: Path, header: list[str]) -> None:
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise InputError(f"{path}: row 1 has the column {twice[0]!r} twice")
    needed = {"task", "arm", "reward"} if "arm" in header or "reward" in header else {"task", "reward_a", "reward_b"}
    missing = sorted(needed - set(header))
    if missing:
        raise InputError(f"{path}: row 1 lacks the column {missing[0]!r}; a table has {SAMPLE}")
    if "" in header:
        raise InputError(f"{path}: row 1, column {header.index('') + 1} has no name")


def _arms(path: Path, number: int, row: dict[str, str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield what a row says about each arm; the arm's columns lose their ending, except those of groups."""
    if "arm" in row:
        if not row["arm"]:
            raise InputError(f"{path}: row {number}, column 'arm' is empty")
        yield row["arm"], {name: value for name, value in row.items() if name != "arm"}
        return
    for own, other in (ENDINGS, ENDINGS[::-1]):
        of_arm = {}
        for name, value in row.items():
            plain = name.removesuffix(own)
            if not name.endswith(other):
                of_arm[plain if plain in ("reward", "config", "model") else name] = value
        yield own[-1].upper(), of_arm


def _result(path: Path, number: int, column: str, row: dict[str, str], arm: str, written: datetime) -> EvalResult:
    """Make one run; `column` is the table's name for its reward."""
    if not row["task"]:
        raise InputError(f"{path}: row {number}, column 'task' is empty")
    reward = _number(path, number, column, row["reward"])
    if not 0 <= reward <= 1:
        raise InputError(f"{path}: row {number}, column {column!r} is {row['reward']}; rewards go from 0 to 1")
    return EvalResult(
        task_id=row["task"],
        config_name=row.get("config") or arm,
        model=row.get("model") or "none",
        run_index=0,
        timestamp=written,
        trace=ExecutionTrace(usage=None, duration_seconds=None, num_turns=None, has_transcript=False),
        grades=[GradeResult(assertion_id="reward", assertion_type="code", passed=reward >= PASS_SCORE, score=reward)],
        overall_score=reward,
        passed=reward >= PASS_SCORE,
        groups={name: value for name, value in row.items() if name not in KNOWN and value},
        source=f"{path}:{number}",
        category=row.get("category", ""),
        difficulty=row.get("difficulty", ""),
        language=row.get("language", ""),
    )


def _number(path: Path, row: int, column: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{path}: row {row}, column {column!r} is {text!r}, not a number")
    return value

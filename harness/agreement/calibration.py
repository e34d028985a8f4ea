"""Does the judge agree with people? Compares saved verdicts with human labels from a CSV file."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from harness.errors import InputError
from harness.models import EvalResult, GradeResult
from harness.statistics import Interval, cohen_kappa, wilson_interval

COLUMNS = ("task_id", "config_name", "model", "run_index", "assertion_id", "passed")
LABELS = {
    "1": True,
    "true": True,
    "pass": True,
    "yes": True,
    "0": False,
    "false": False,
    "fail": False,
    "no": False,
}


class Judged(NamedTuple):
    """The verdict that a label is about."""

    task_id: str
    config_name: str
    model: str
    run_index: int
    assertion_id: str


@dataclass(frozen=True)
class Calibration:
    """Agreement of judge and people, over the assertions that both decided."""

    both_pass: int
    both_fail: int
    only_judge_passes: int
    only_human_passes: int
    judge_errors: int
    """Labelled assertions for which the judge gave no verdict; they are not compared."""
    disagreements: tuple[Judged, ...]
    kappa: float | None
    """Cohen's kappa, -1 to 1; None when nothing is compared or all labels are equal."""

    @property
    def compared(self) -> int:
        """Number of assertions that both decided."""
        return self.both_pass + self.both_fail + self.only_judge_passes + self.only_human_passes

    @property
    def agreement(self) -> Interval | None:
        """Interval of the share of assertions on which both agree."""
        return wilson_interval(self.both_pass + self.both_fail, self.compared)


def calibrate(results: Iterable[EvalResult], labels: dict[Judged, bool]) -> Calibration:
    """Compare the judge's verdicts with labels; InputError for a label without a verdict."""
    grades = dict(_judged(results))
    missing = [label for label in labels if label not in grades]
    if missing:
        known = f"; the results hold {len(grades)} judged assertions"
        raise InputError(f"no judged assertion for the label {', '.join(map(str, missing[0]))}{known}")
    pairs = [(key, grades[key].passed, human) for key, human in labels.items() if grades[key].status == "graded"]
    counts = Counter((judge, human) for _, judge, human in pairs)
    return Calibration(
        both_pass=counts[True, True],
        both_fail=counts[False, False],
        only_judge_passes=counts[True, False],
        only_human_passes=counts[False, True],
        judge_errors=len(labels) - len(pairs),
        disagreements=tuple(key for key, judge, human in pairs if judge != human),
        kappa=cohen_kappa([judge for _, judge, _ in pairs], [human for _, _, human in pairs]),
    )


def read_labels(path: Path) -> dict[Judged, bool]:
    """Read labels from a CSV file with COLUMNS, skipping lines with an empty `passed`; InputError names the line."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read as CSV ({error})") from error
    labels: dict[Judged, bool] = {}
    for line, row in enumerate(rows, start=2):
        absent = [name for name in COLUMNS if row.get(name) is None]
        if absent:
            raise InputError(f"{path}:{line}: column {absent[0]} is missing; the header is {','.join(COLUMNS)}")
        said = row["passed"].strip().lower()
        if not said:
            continue
        if said not in LABELS or not row["run_index"].strip().isdigit():
            raise InputError(f"{path}:{line}: passed must be one of {', '.join(LABELS)}, run_index a number")
        *names, index, assertion = (row[name].strip() for name in COLUMNS[:-1])
        key = Judged(names[0], names[1], names[2], int(index), assertion)
        if key in labels:
            raise InputError(f"{path}:{line}: {', '.join(map(str, key))} is labelled twice")
        labels[key] = LABELS[said]
    if not labels:
        raise InputError(f"{path}: no line has a label in its column passed")
    return labels


def template(results: Sequence[EvalResult]) -> str:
    """Return the CSV to fill in: one line per judged assertion, without the judge's verdict."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([*key, ""] for key, _ in _judged(results))
    return text.getvalue()


def _judged(results: Iterable[EvalResult]) -> Iterable[tuple[Judged, GradeResult]]:
    for r in results:
        for grade in r.grades:
            if grade.assertion_type == "llm":
                yield Judged(r.task_id, r.config_name, r.model, r.run_index, grade.assertion_id), grade

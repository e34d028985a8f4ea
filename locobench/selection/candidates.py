"""The tasks of a dataset as the selection sees them, and the ids in a selected_tasks.json."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from locobench.dataset.records import BYTE_ORDER_MARK, parse_object, read_dataset
from locobench.dataset.scenario import Derived
from locobench.scoring.grading import ExactAnswer
from locobench.shared.errors import InputError
from locobench.shared.installation import SELECT
from locobench.shared.validation import LARGEST_COUNT, first_problem

_Count = Annotated[int, Field(ge=0, le=LARGEST_COUNT)]


@dataclass(frozen=True, slots=True)
class Pilot:
    """How the user's own agent did on a task before it was selected."""

    mean: float
    """Mean reward, 0-1."""
    runs: tuple[str, ...]
    """Ids of the runs, which must not count in a comparison over the selected tasks."""

    @property
    def level(self) -> str:
        """`ceiling` or `floor` if every run earned 1 or 0, else `between`."""
        return "ceiling" if self.mean >= 1 else "floor" if self.mean <= 0 else "between"


@dataclass(frozen=True, slots=True)
class Candidate:
    """The fields of a scenario that the selection uses, and what was measured."""

    id: str
    task_category: str
    difficulty: str
    """As published; `unknown` for a question with an exact answer."""
    language: str
    context_length: _Count
    """Characters."""
    files_count: _Count
    project_id: str = ""
    derived: Derived | None = None
    """Set for a question with an exact answer."""
    exact_items: frozenset[str] = frozenset()
    """The items of an exact answer."""
    pilot: Pilot | None = None
    """None if it was not in the pilot."""

    @property
    def repository(self) -> str:
        """The code base that it is about."""
        return (self.derived and self.derived.repository) or self.project_id

    @property
    def is_control(self) -> bool:
        """Whether a single grep nearly answers it."""
        return self.derived is not None and self.derived.control_group

    @property
    def kind(self) -> str:
        """What is asked: the kind of an exact question, or the category."""
        return self.derived.kind if self.derived else self.task_category

    @property
    def measured_difficulty(self) -> str:
        """What the pilot measured; without one, the record's own difficulty."""
        return self.pilot.level if self.pilot else self.difficulty


@dataclass(frozen=True)
class _Selected:
    id: str
    pilot: Pilot | None = None


@dataclass(frozen=True)
class _SelectionFile:
    tasks: list[_Selected]


_CANDIDATE, _SELECTION_FILE = TypeAdapter(Candidate), TypeAdapter(_SelectionFile)


def read_candidates(dataset_path: Path) -> list[Candidate]:
    """Return the candidates of a JSONL dataset, in file order. It is read once, so it may be a pipe.

    Raises:
        InputError: the dataset cannot be read, or a line is not a record or repeats an id.
    """
    return [candidate for _, _, candidate in read_dataset(dataset_path, _read_candidate).values()]


def _read_candidate(line: bytes) -> tuple[str, Candidate]:
    try:
        task = _CANDIDATE.validate_json(line.removeprefix(BYTE_ORDER_MARK), strict=True)
        if task.derived is None:
            return task.id, task
        truth = ExactAnswer.model_validate(parse_object(line).get("ground_truth"))
    except ValidationError as error:
        parse_object(line)  # has a better message for a line that is not a JSON object
        raise InputError(first_problem(error)) from None
    return task.id, replace(task, exact_items=frozenset(truth.items))


def with_pilot(tasks: Sequence[Candidate], arms: Mapping[Path, Mapping[str, Pilot]]) -> list[Candidate]:
    """Return the candidates; those that every arm ran have their mean over the arms, and the ids of these runs.

    Raises:
        InputError: no candidate was measured.
    """
    found = []
    for task in tasks:
        pilots = [arm[registry_name(task.id)] for arm in arms.values() if registry_name(task.id) in arm]
        if len(pilots) == len(arms):
            runs = tuple(run for one in pilots for run in one.runs)
            found.append(replace(task, pilot=Pilot(fmean(one.mean for one in pilots), runs)))
        else:
            found.append(task)
    if not any(task.pilot for task in found):
        jobs = ", ".join(map(str, arms))
        raise InputError(f"{jobs}: no measured run of any task of the dataset; name a job of its tasks")
    return found


def registry_name(task: str) -> str:
    """Return a task's id as a registry writes it."""
    return task.replace("_", "-")


def read_selection(path: Path) -> dict[str, Pilot | None]:
    """Return the ids in a selection, in order, each with the pilot by which it was chosen.

    Raises:
        InputError: the file cannot be read or was not written by select_tasks.py.
    """
    try:
        return {task.id: task.pilot for task in _SELECTION_FILE.validate_json(path.read_bytes(), strict=True).tasks}
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}; run {SELECT} first") from None
    except ValidationError as error:
        raise InputError(f"{path}: not a selection ({first_problem(error)}); write it again with {SELECT}") from None

"""Reading the files around a selection: the candidates in a dataset, the ids in a selected_tasks.json."""

from __future__ import annotations

from pathlib import Path

from pydantic_core import SchemaValidator, ValidationError
from pydantic_core.core_schema import (
    CoreSchema,
    bool_schema,
    float_schema,
    int_schema,
    list_schema,
    literal_schema,
    nullable_schema,
    str_schema,
    typed_dict_field,
    typed_dict_schema,
)

from locobench.dataset.catalog import DIFFICULTIES, UNKNOWN
from locobench.dataset.records import BYTE_ORDER_MARK, DatasetError, RecordError, parse_object, read_lines
from locobench.selection.criteria import Candidate, DerivedFacts, Pilot
from locobench.shared.errors import InputError
from locobench.shared.installation import EXTRACT, SELECT
from locobench.shared.validation import LARGEST_COUNT, explain

# The fields that a selection uses; the others, nearly all of a record's bytes, are ignored. A plain validator, because
# importing pydantic's models takes as long as reading 8,000 records.
_COUNT = int_schema(strict=True, ge=0, le=LARGEST_COUNT)
_TEXT = str_schema(strict=True)


def _record(optional: dict[str, CoreSchema] | None = None, **fields: CoreSchema) -> CoreSchema:
    """Return the schema of an object with these fields; others are ignored."""
    return typed_dict_schema(
        {name: typed_dict_field(schema) for name, schema in fields.items()}
        | {name: typed_dict_field(schema, required=False) for name, schema in (optional or {}).items()}
    )


_DERIVED = _record(
    {
        "repository": _TEXT,
        "kind": _TEXT,
        "control_group": bool_schema(strict=True),
        "greps": _COUNT,
        "depth": _COUNT,
        "items": _COUNT,
    },
    grep_f1=float_schema(ge=0, le=1),
)
_CANDIDATE = SchemaValidator(
    _record(
        {
            "derived": nullable_schema(_DERIVED),
            "project_id": _TEXT,
        },
        id=_TEXT,
        task_category=_TEXT,
        difficulty=literal_schema([*DIFFICULTIES, UNKNOWN]),
        language=_TEXT,
        context_length=_COUNT,
        files_count=_COUNT,
    )
)
# Read apart, and of exact questions alone: other truths are long and have no items.
_ANSWER = SchemaValidator(_record({"ground_truth": _record({"items": list_schema(_TEXT)})}))
_PILOT = _record(mean=float_schema(), runs=list_schema(_TEXT))
_SELECTION = SchemaValidator(_record(tasks=list_schema(_record({"pilot": _PILOT}, id=_TEXT))))


def read_candidates(dataset_path: Path) -> list[Candidate]:
    """Return the candidates of a JSONL dataset, in file order. It is read once, so it may be a pipe.

    Raises:
        DatasetError: the dataset cannot be read, or a line is not a record or repeats an id.
    """
    candidates: dict[str, tuple[int, Candidate]] = {}
    for number, _, line in read_lines(dataset_path):
        try:
            candidate = _read_candidate(line)
        except RecordError as error:
            raise DatasetError(f"{dataset_path}:{number}: {error}; write it again with {EXTRACT}") from None
        if candidate.id in candidates:
            first = candidates[candidate.id][0]
            raise DatasetError(f"{dataset_path}:{number}: id: {candidate.id} is already on line {first}; remove one")
        candidates[candidate.id] = number, candidate
    return [candidate for _, candidate in candidates.values()]


def read_selection(path: Path) -> dict[str, Pilot | None]:
    """Return the ids in a selection, in order, each with the pilot by which it was chosen.

    Raises:
        InputError: the file cannot be read or was not written by select_tasks.py.
    """
    try:
        tasks = _SELECTION.validate_json(path.read_bytes())["tasks"]
        pilots = ((task["id"], task.get("pilot")) for task in tasks)
        return {task_id: Pilot(pilot["mean"], tuple(pilot["runs"])) if pilot else None for task_id, pilot in pilots}
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}; run {SELECT} first") from None
    except ValidationError as error:
        raise InputError(f"{path}: not a selection ({explain(error)}); write it again with {SELECT}") from None


def _read_candidate(line: bytes) -> Candidate:
    try:
        fields = _CANDIDATE.validate_json(line.removeprefix(BYTE_ORDER_MARK))
        derived, project = fields.pop("derived", None), fields.pop("project_id", "")
        if derived is None:
            return Candidate(**fields, repository=project or None)
        repository = derived.pop("repository", "") or project or None
        answer = _ANSWER.validate_json(line.removeprefix(BYTE_ORDER_MARK)).get("ground_truth", {}).get("items", ())
        return Candidate(**fields, derived=DerivedFacts(**derived), repository=repository, answer=frozenset(answer))
    except ValidationError as error:
        parse_object(line)  # has a better message for a line that is not a JSON object
        raise RecordError(explain(error)) from None

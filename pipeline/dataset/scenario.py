"""One scenario as a validated record: read from a raw file, written to and read from a line of the JSONL."""

from __future__ import annotations

from typing import Any, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictInt,
    StrictStr,
    ValidationError,
    field_validator,
    model_validator,
)

from pipeline.dataset.catalog import CATEGORIES, DIFFICULTIES, parse_id
from pipeline.dataset.markdown import as_markdown
from pipeline.dataset.records import RecordError, explain, parse_object


class LoCoBenchTask(BaseModel):
    """One scenario, self-contained: every field of the raw file plus what its id and its metadata tell.

    The free-shaped fields were written by a language model and keep whatever JSON shape they have.
    Fields of the raw file that are not named here are kept too.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    id: StrictStr
    """`{language}_{domain}_{complexity}_{NNN}_{category}_{difficulty}_{NN}`."""
    language: StrictStr
    """First part of the id."""
    project_id: StrictStr
    """The id up to the category's name; the project's folder under generated/."""
    task_category: StrictStr
    difficulty: StrictStr
    """The difficulty achieved; the one in the id is the target, and they can differ."""
    title: StrictStr
    description: StrictStr
    context_files: tuple[StrictStr, ...]
    """Paths below generated/<project_id>/ with `/` between folders. Some do not exist on disk."""
    context_length: StrictInt = Field(ge=0)
    """Characters of decoded text in the context files (not tokens)."""
    files_count: StrictInt = Field(ge=0)
    """Number of context files."""
    task_prompt: Any
    expected_approach: Any = ""
    ground_truth: Any
    evaluation_criteria: Any = ()
    metadata: dict[str, Any] = Field(default_factory=dict)

    @field_validator("task_category")
    @classmethod
    def _known_category(cls, value: str) -> str:
        if value not in CATEGORIES:
            raise ValueError(f"unknown category {value!r:.60} (known: {', '.join(CATEGORIES)})")
        return value

    @field_validator("difficulty")
    @classmethod
    def _known_difficulty(cls, value: str) -> str:
        if value not in DIFFICULTIES:
            raise ValueError(f"unknown difficulty {value!r:.60} (known: {', '.join(DIFFICULTIES)})")
        return value

    @field_validator("task_prompt", "ground_truth")
    @classmethod
    def _says_something(cls, value: Any) -> Any:
        if not as_markdown(value).strip():
            raise ValueError("holds no text")
        return value

    @model_validator(mode="after")
    def _agrees_with_its_id(self) -> Self:
        for name, expected in parse_id(self.id)._asdict().items():
            if getattr(self, name) != expected:
                raise ValueError(f"{name}: {getattr(self, name)!r:.60} but the id says {expected!r}")
        return self

    @classmethod
    def from_scenario(cls, data: dict[str, Any], name: str) -> LoCoBenchTask:
        """Build the record from a raw scenario whose file is called `<name>.json`.

        Raises:
            RecordError: a field is missing or wrong, or the id is not the file's name.
        """
        scenario_id = data.get("id")
        if scenario_id is None:
            raise RecordError("id: missing")
        if scenario_id != name:
            raise RecordError(f"id: {scenario_id!r:.80} is not the file's name")
        try:
            parts = parse_id(name)
        except ValueError as error:
            raise RecordError(f"id: {error}") from None
        record = {**data, **parts._asdict()}
        if isinstance(files := data.get("context_files"), list):
            record["context_files"] = _single_slashes(files)
        metadata = data.get("metadata")
        if isinstance(metadata, dict) and metadata.get("files_count") is not None:
            record["files_count"] = metadata["files_count"]
        elif isinstance(files, list):
            record["files_count"] = len(files)
        return cls.checked(record)

    @classmethod
    def from_line(cls, line: bytes) -> LoCoBenchTask:
        """Read one line of the JSONL.

        Raises:
            RecordError: the line is not a record that `from_scenario` could have made.
        """
        return cls.checked(parse_object(line))

    @classmethod
    def checked(cls, record: dict[str, Any]) -> LoCoBenchTask:
        """Validate `record`; like `model_validate`, but with the reason in one line (RecordError)."""
        try:
            return cls.model_validate(record)
        except ValidationError as error:
            raise RecordError(explain(error)) from None

    def to_line(self) -> bytes:
        """Return the record as one line of JSON without its end of line."""
        return self.model_dump_json().encode()


def _single_slashes(paths: list[Any]) -> list[Any]:
    """`a//b/` -> `a/b`: some projects were listed with doubled separators. What is not text is left to validation."""
    try:
        # Between slashes, doubled, leading and trailing ones look alike; most lists have none of them.
        all_of_them = "/\n/".join(paths)
    except TypeError:
        return paths
    if "//" not in f"/{all_of_them}/":
        return paths
    return ["/".join(part for part in path.split("/") if part) for path in paths]

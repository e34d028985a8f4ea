"""The scenario record: its fields and how they are validated."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictInt,
    StrictStr,
    ValidationError,
    field_validator,
)

from locobench.dataset.catalog import DIFFICULTIES, UNKNOWN
from locobench.shared.errors import InputError
from locobench.shared.markdown import as_markdown
from locobench.shared.validation import LARGEST_COUNT, first_problem

# Longer names would leave no room for the suffix of a temporary folder within a file system's 255 bytes.
MAX_NAME_CHARACTERS = 200
_UP_TO = f"up to {MAX_NAME_CHARACTERS} characters"
_PLAIN_NAME = re.compile(r"[a-z0-9]+(?:[_-][a-z0-9]+)*")
_FOLDER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*", re.ASCII)


def plain_name(text: str) -> str:
    """Return `text` if it is safe as the name of a folder, an image and a Harbor task; raise ValueError otherwise."""
    if len(text) > MAX_NAME_CHARACTERS or not _PLAIN_NAME.fullmatch(text):
        raise ValueError(f"not a plain name: use lower-case letters, digits and single '_' or '-', {_UP_TO}")
    return text


def folder_name(text: str) -> str:
    """Return `text` if it is the name of a single folder and cannot lead elsewhere; raise ValueError otherwise."""
    if len(text) > MAX_NAME_CHARACTERS or not _FOLDER_NAME.fullmatch(text):
        raise ValueError(f"not a valid folder name: use letters, digits, '.', '_' and '-', {_UP_TO}")
    return text


def _words(text: str) -> str:
    if not text.strip() or not text.isprintable():
        raise ValueError("not a line of text")
    return text


PlainName = Annotated[StrictStr, AfterValidator(plain_name)]


class Derived(BaseModel):
    """Facts about a question with an exact answer."""

    model_config = ConfigDict(frozen=True)

    kind: StrictStr
    """What is asked for, such as `users_in_steps`."""
    tier: Literal["syntax", "history"]
    """Where the answer comes from: the strict rule, or a commit."""
    checked: bool
    """Whether this kind was compared with independent resolvers for this language."""
    control_group: bool
    """Whether a single grep nearly answers it, so that a tool can hardly help."""
    grep_f1: float = Field(ge=0, le=1)
    """F1 of a single grep's answer."""
    repository: StrictStr = ""
    """Name of the repository, whatever commit is asked about; tasks of one are compared together."""


class Scenario(BaseModel):
    """One self-contained scenario: later stages need only this record and the project's files.

    A language model wrote the free-form fields; they keep whatever JSON shape they have.
    Fields of the raw file that are not declared here are kept too.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    id: PlainName
    """Unique in its dataset, and the name of the task's folder."""
    source: PlainName
    """The benchmark it comes from: the task is registered as `<source>/<id>`."""
    authors: tuple[Annotated[StrictStr, AfterValidator(_words)], ...] = Field(min_length=1)
    """Who is credited with the task."""
    language: PlainName
    project_id: Annotated[StrictStr, AfterValidator(folder_name)]
    """The project's folder under generated/."""
    task_category: PlainName
    difficulty: StrictStr
    """The difficulty achieved; LoCoBench-Agent's ids contain the intended one. `unknown` for exact questions."""
    title: StrictStr
    description: StrictStr
    context_files: tuple[StrictStr, ...]
    """Paths below generated/<project_id>/, separated by `/`. Some do not exist on disk."""
    context_length: StrictInt = Field(ge=0, le=LARGEST_COUNT)
    """Characters of decoded text in the context files (not tokens)."""
    files_count: StrictInt = Field(ge=0, le=LARGEST_COUNT)
    """Number of context files."""
    task_prompt: Any
    expected_approach: Any = ""
    ground_truth: Any
    evaluation_criteria: Any = ()
    metadata: dict[str, Any] = Field(default_factory=dict)
    derived: Derived | None = None
    """Facts about a question with an exact answer, made by derive_scenarios.py; None for other scenarios."""

    @field_validator("difficulty")
    @classmethod
    def _known_difficulty(cls, value: str) -> str:
        if value not in (*DIFFICULTIES, UNKNOWN):
            raise ValueError(f"unknown difficulty {value!r:.60} (known: {', '.join(DIFFICULTIES)})")
        return value

    @field_validator("task_prompt", "ground_truth")
    @classmethod
    def _says_something(cls, value: Any) -> Any:
        if not as_markdown(value).strip():
            raise ValueError("contains no text")
        return value

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Self:
        """Validate `record` like `model_validate`, but raise InputError with the reason in one line."""
        try:
            return cls.model_validate(record)
        except ValidationError as error:
            raise InputError(first_problem(error)) from None

    def to_line(self) -> bytes:
        """Return the record as one line of JSON, without the newline."""
        return self.model_dump_json().encode()

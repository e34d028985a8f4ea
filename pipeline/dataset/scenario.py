"""One scenario as a validated record: its fields, and what must hold of them."""

from __future__ import annotations

from typing import Any, Literal, Self

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

from common.markdown import as_markdown
from common.validation import LARGEST_COUNT, explain
from pipeline.dataset.catalog import ALL_CATEGORIES, DIFFICULTIES, parse_id
from pipeline.dataset.records import RecordError


class Derived(BaseModel):
    """What a question with an exact answer is like."""

    model_config = ConfigDict(frozen=True)

    kind: StrictStr
    """What is asked for, such as `users_in_steps`."""
    family: Literal["structure", "history"]
    tier: Literal["syntax", "scip", "history"]
    """Where the answer comes from: the strict rule, an index, or a commit."""
    checked: bool
    """Whether this kind was compared with independent resolvers in this language."""
    control_group: bool
    """Whether one grep nearly answers it, so that a tool can hardly help."""
    grep_f1: float = Field(ge=0, le=1)
    """F1 of one grep's answer."""
    greps: int = Field(ge=1)
    """Words to grep for, to find everything."""
    hits: int = Field(ge=0)
    """Lines that these greps show."""
    depth: int = Field(ge=0)
    """Steps from the target to the answer; 0 for any number."""
    items: int = Field(ge=1)
    files: int = Field(ge=1)
    """Files in the answer."""
    repository_files: int = Field(ge=1)
    repository_lines: int = Field(ge=0)


class Scenario(BaseModel):
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
    """Of a question with an exact answer, which derive_scenarios.py made."""

    @field_validator("task_category")
    @classmethod
    def _known_category(cls, value: str) -> str:
        if value not in ALL_CATEGORIES:
            raise ValueError(f"unknown category {value!r:.60} (known: {', '.join(ALL_CATEGORIES)})")
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
    def checked(cls, record: dict[str, Any]) -> Self:
        """Validate `record`; like `model_validate`, but with the reason in one line (RecordError)."""
        try:
            return cls.model_validate(record)
        except ValidationError as error:
            raise RecordError(explain(error)) from None

    def to_line(self) -> bytes:
        """Return the record as one line of JSON without its end of line."""
        return self.model_dump_json().encode()


def single_slashes(paths: list[Any]) -> list[Any]:
    """`a//b/` -> `a/b`: some projects were listed with doubled separators. What is not text is left to validation."""
    try:
        # Between slashes, doubled, leading and trailing ones look alike; most lists have none of them.
        all_of_them = "/\n/".join(paths)
    except TypeError:
        return paths
    if "//" not in f"/{all_of_them}/":
        return paths
    return ["/".join(part for part in path.split("/") if part) for path in paths]

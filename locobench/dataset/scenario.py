"""One scenario as a validated record: its fields, and what must hold of them."""

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

from locobench.dataset.catalog import ALL_CATEGORIES, DIFFICULTIES, parse_id
from locobench.dataset.records import RecordError
from locobench.shared.derived import Derived
from locobench.shared.markdown import as_markdown
from locobench.shared.validation import LARGEST_COUNT, explain


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

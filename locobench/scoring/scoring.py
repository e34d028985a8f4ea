"""The settings of a scoring file and their bounds; the defaults come from the table SCORING in verify.py."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from locobench.scoring.verify import SCORING
from locobench.shared.errors import InputError
from locobench.shared.files import read_toml
from locobench.shared.validation import explain

PUBLISHED: Literal["published"] = "published"

Share = Annotated[float, Field(ge=0, le=1)]
# Whole numbers stay whole in the key.
Positive = Annotated[int | float, Field(gt=0)]


class _Table(BaseModel):
    """A table of settings. A name that is declared here but not in verify.py, or vice versa, fails at once."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    defaults: ClassVar[dict[str, Any]]

    @model_validator(mode="before")
    @classmethod
    def _take_defaults(cls, given: Any) -> Any:
        return {**cls.defaults, **given} if isinstance(given, dict) else given


class Weights(_Table):
    """Weights of the four components; they are normalised by their sum."""

    defaults = SCORING["weights"]

    keyword_overlap: Share
    file_references: Share
    code_blocks: Share
    length_score: Share

    @model_validator(mode="after")
    def _words_count(self) -> Self:
        if self.keyword_overlap == 0:
            raise ValueError("keyword_overlap: must be above 0: the other components only add to it")
        return self


class Scoring(_Table):
    """Settings for scoring answers by evidence; verify.py explains each."""

    defaults = SCORING

    weights: Weights
    names: Positive
    simple: Share
    shown: Positive
    proposed: Annotated[int | float, Field(ge=0)]
    frequent: Annotated[float, Field(gt=0, le=1)]
    length_words: Annotated[int, Field(ge=1)]

    @classmethod
    def default(cls) -> Self:
        """Return the default scoring."""
        return cls.model_validate({})

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a TOML file; raise InputError if it has an unknown key or an invalid value."""
        try:
            return cls.model_validate(read_toml(path))
        except InputError as error:
            raise InputError(f"{error}; --scoring takes `{PUBLISHED}` or a TOML file (docs/VERIFIER.md)") from None
        except ValidationError as error:
            raise InputError(f"{path}: {explain(error)}; docs/VERIFIER.md lists the settings") from None

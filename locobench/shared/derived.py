"""Facts about questions with exact answers. Scenarios carry them, tasks publish them, comparisons group by them."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, StrictStr

CONTROL_GROUP = "control_group"
"""Name of the grouping: `yes` marks tasks that a single grep nearly answers, so that a search tool can hardly help."""


class Derived(BaseModel):
    """Facts about a question with an exact answer."""

    model_config = ConfigDict(frozen=True)

    kind: StrictStr
    """What is asked for, such as `users_in_steps`."""
    family: Literal["structure", "history"]
    tier: Literal["syntax", "scip", "history"]
    """Where the answer comes from: the strict rule, a SCIP index, or a commit."""
    checked: bool
    """Whether this kind was compared with independent resolvers for this language."""
    control_group: bool
    """Whether a single grep nearly answers it, so that a tool can hardly help."""
    grep_f1: float = Field(ge=0, le=1)
    """F1 of a single grep's answer."""
    greps: int = Field(ge=1)
    """Number of words to grep for to find everything."""
    hits: int = Field(ge=0)
    """Number of lines these greps print."""
    depth: int = Field(ge=0)
    """Steps from the target to the answer; 0 means any number."""
    items: int = Field(ge=1)
    files: int = Field(ge=1)
    """Files in the answer."""
    repository_files: int = Field(ge=1)
    repository_lines: int = Field(ge=0)

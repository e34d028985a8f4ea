"""What is a question with an exact answer like? Facts that scenarios carry, tasks tell and comparisons group by."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, StrictStr

STRUCTURE, AGREEMENT = "code_structure", "agreement_with_the_real_fix"
"""The categories of such questions."""


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

"""Build the key and oracle for a question with an exact answer, and check them with its verifier."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from functools import cache
from types import ModuleType
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from locobench.dataset.catalog import TEMPLATES
from locobench.dataset.scenario import Scenario
from locobench.scoring.grading import Grading, GradingError
from locobench.shared.validation import explain


class ExactAnswer(BaseModel):
    """The ground truth of a question with an exact answer."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    measure: Literal["f1", "f2", "path"]
    items: tuple[str, ...] = Field(min_length=1)
    """Items of the form `path: Qualified.name`, or just paths; with the measure `path`, in order."""
    names: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """File -> names it defines: a bare name counts if its file defines only one such name."""
    edges: tuple[tuple[str, str], ...] = ()
    """For the measure `path`: every correct step."""
    grep: tuple[str, ...] = ()
    """The answer that a single grep gives."""


@cache
def exact_verifier() -> ModuleType:
    """Return templates/tests/exact.py as a module."""
    spec = importlib.util.spec_from_file_location("exact", TEMPLATES / "tests" / "exact.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def as_answer(items: Sequence[str]) -> str:
    """Format an answer as an agent submits it."""
    return "```answer\n" + "\n".join(items) + "\n```\n"


def grade_exact(task: Scenario) -> Grading:
    """Build the key and the oracle's answer.

    Raises:
        GradingError: the ground truth is not an exact answer, or its own answer does not score 1.
    """
    try:
        answer = ExactAnswer.model_validate(task.ground_truth)
    except ValidationError as error:
        raise GradingError(f"ground_truth: no exact answer: {explain(error)}") from None
    verify = exact_verifier()
    key: dict[str, Any] = answer.model_dump(mode="json")
    key["grep_reward"] = verify.measure(as_answer(answer.grep), key)["reward"]
    oracle = as_answer(answer.items)
    reward = verify.measure(oracle, key)["reward"]
    if reward != 1.0 or verify.measure("", key)["reward"] != 0.0:
        raise GradingError(f"ground_truth: its own answer scores {reward}, not 1.0")
    return Grading(key, oracle)

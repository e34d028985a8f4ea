"""Does the agent's work meet a rubric? A language model judges; an unusable verdict is an error, no fail."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median_low
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from harness.graders.judge_prompt import VERSION, build_prompt, digest
from harness.graders.service import Question, Reply, Service, failures_of, record_of
from harness.models import (
    LLM_WEIGHT_KEY,
    PASS_SCORE,
    AssertionType,
    CriterionScore,
    ExecutionTrace,
    GradeResult,
    LLMAssertion,
    Task,
)
from harness.models.model_ids import DEFAULT_JUDGE_MODEL, retirement_warning
from locobench.scoring.judge.judging import JudgeError
from locobench.shared.validation import first_problem

ROUNDING = 0.05
"""How far an overall score may lie outside of its criteria's, 0 to 1."""


class CriterionVerdict(BaseModel):
    """One criterion in the order a judge must write it: evidence before score."""

    model_config = ConfigDict(extra="forbid")

    criterion: str = Field(min_length=1)
    evidence: str
    reasoning: str
    score: float = Field(ge=0, le=1, strict=True)


class JudgeVerdict(BaseModel):
    """What a judge must answer; anything else is no verdict."""

    model_config = ConfigDict(extra="forbid")

    criteria: list[CriterionVerdict] = Field(min_length=1)
    overall_reasoning: str
    overall_score: float = Field(ge=0, le=1, strict=True)

    @model_validator(mode="after")
    def _overall_lies_among_its_criteria(self) -> JudgeVerdict:
        """A weighted mean does, whatever the weights."""
        scores = [criterion.score for criterion in self.criteria]
        if not min(scores) - ROUNDING <= self.overall_score <= max(scores) + ROUNDING:
            raise ValueError(f"overall_score {self.overall_score:g} is no mean of the criteria's scores")
        return self


class LLMGrader:
    """Judges LLM assertions with a language model.

    `samples` verdicts are asked for; the median one is reported, so that a majority decides whether the
    assertion passes. Without a majority of usable verdicts the grade's status is judge_error. The key comes
    from `api_key` or the environment (JUDGE_API_KEY, ANTHROPIC_API_KEY), and is needed at the first grade only.
    """

    def __init__(
        self,
        model: str = DEFAULT_JUDGE_MODEL,
        api_key: str | None = None,
        *,
        samples: int = 1,
        service: Service | None = None,
    ) -> None:
        """`samples`: how many verdicts are asked for; an odd number leaves no ties. `service`: where, with its key."""
        if samples < 1:
            raise ValueError(f"samples must be at least 1, got {samples}")
        self.model = model
        self.samples = samples
        self.service = service or Service.of_environment(key=api_key)

    @property
    def warning(self) -> str | None:
        """One line when the judge model is retired or about to be."""
        return retirement_warning(self.model, datetime.now(UTC).date())

    def grade(
        self, assertion: LLMAssertion, task: Task, trace: ExecutionTrace, env_path: Path | None = None
    ) -> GradeResult:
        """Grade of one assertion, never raising for what the service does.

        The judge sees the trace alone, its diff above all, so that grading a saved run again shows it the
        same; `env_path` is part of the graders' common interface and not read.
        """
        question = rubric_question(assertion, task, trace)
        replies = []
        for _ in range(self.samples):
            replies.append(self.service.ask(question, self.model))
            if replies[-1].error_kind.stops_matrix:
                break
        return rubric_grade(assertion, task, trace, [self.model], replies)


def rubric_question(assertion: LLMAssertion, task: Task, trace: ExecutionTrace) -> Question:
    """What judges are asked about a run and one assertion of its task."""

    def texts() -> tuple[str, str]:
        prompt = build_prompt(assertion, task, trace)
        return prompt.system, prompt.user

    return Question(
        task=task.id,
        version=VERSION,
        digest=digest(assertion, task, trace),
        texts=texts,
        schema=VERDICT_SCHEMA,
        read=_read,
        points=lambda verdict: 100.0 * verdict["overall_score"],
    )


def rubric_grade(
    assertion: LLMAssertion, task: Task, trace: ExecutionTrace, judges: Sequence[str], replies: Sequence[Reply]
) -> GradeResult:
    """The grade that replies to a rubric's question add up to."""
    verdicts = [JudgeVerdict.model_validate(reply.verdict) for reply in replies if reply.verdict is not None]
    scores = [verdict.overall_score for verdict in verdicts]
    prompt = build_prompt(assertion, task, trace)
    record = record_of(list(judges), VERSION, list(replies), scores)
    base: dict[str, Any] = {
        "assertion_id": assertion.id or "llm_0",
        "assertion_type": AssertionType.LLM.value,
        "assertion_name": assertion.id or LLM_WEIGHT_KEY,
        "grading_prompt": prompt.text,
        "judge": record,
        "duration_seconds": sum(reply.seconds for reply in replies),
    }
    failures = failures_of(list(replies))
    if 2 * len(verdicts) <= len(replies):
        details = f"no usable verdict from {record.model}: {failures}"
        return GradeResult(passed=False, score=0.0, status="judge_error", details=details, **base)
    median = median_low(sorted(scores))
    chosen = next(verdict for verdict in verdicts if verdict.overall_score == median)
    parts = [f"median of {len(verdicts)} verdicts" if len(verdicts) > 1 else "one verdict"]
    if failures:
        parts.append(f"{record.failed_samples} samples without a verdict ({failures})")
    if prompt.omitted_chars:
        parts.append(f"{prompt.omitted_chars} characters of the work did not fit into the prompt")
    return GradeResult(
        passed=median >= PASS_SCORE,
        score=median,
        details=", ".join(parts),
        reasoning=chosen.overall_reasoning,
        full_output=chosen.model_dump_json(indent=2),
        criteria_scores=[CriterionScore(**criterion.model_dump()) for criterion in chosen.criteria],
        **base,
    )


def _read(text: str) -> dict[str, Any]:
    try:
        return JudgeVerdict.model_validate_json(text).model_dump()
    except ValidationError as error:
        raise JudgeError(f"malformed verdict ({first_problem(error, 'verdict')})") from error


def _closed(schema: Any) -> Any:
    """The schema without what structured output does not know; the bounds are checked on the answer."""
    if isinstance(schema, dict):
        return {
            key: _closed(value)
            for key, value in schema.items()
            if key not in ("title", "minimum", "maximum", "minLength", "minItems", "description")
        }
    return schema


VERDICT_SCHEMA: dict[str, object] = _closed(JudgeVerdict.model_json_schema())

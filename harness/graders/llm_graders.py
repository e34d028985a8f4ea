"""Grade an agent's work against a rubric by a language model. An unusable verdict is an error, not a fail."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, model_validator

from harness.graders.judge_prompt import VERSION, build_prompt
from harness.graders.service import Question, Service
from harness.graders.verdicts import grade_by_verdicts
from harness.models import LLM_WEIGHT_KEY, CriterionScore, ExecutionTrace, GradeResult, LLMAssertion, Task
from harness.models.model_ids import DEFAULT_JUDGE_MODEL
from locobench.scoring.judge.judging import Verdict

ROUNDING = 0.05
"""How far an overall score may lie outside the range of its criteria's scores, 0 to 1."""


class CriterionVerdict(Verdict):
    """One criterion, in the order in which a judge must write it: evidence before score."""

    criterion: str = Field(min_length=1)
    evidence: str
    reasoning: str
    score: float = Field(ge=0, le=1, strict=True)


class RubricVerdict(Verdict):
    """The grade by a rubric."""

    criteria: list[CriterionVerdict] = Field(min_length=1)
    overall_reasoning: str
    overall_score: float = Field(ge=0, le=1, strict=True)

    @model_validator(mode="after")
    def _overall_lies_among_its_criteria(self) -> RubricVerdict:
        """Check that the overall score can be a weighted mean of the criteria's scores."""
        scores = [criterion.score for criterion in self.criteria]
        if not min(scores) - ROUNDING <= self.overall_score <= max(scores) + ROUNDING:
            raise ValueError(f"overall_score {self.overall_score:g} is outside the range of the criteria's scores")
        return self


class LLMGrader:
    """Judges LLM assertions with a language model.

    Without a usable verdict, the grade's status is judge_error. The key comes from `api_key` or the environment
    (JUDGE_API_KEY, ANTHROPIC_API_KEY), and is only needed when something is graded.
    """

    def __init__(self, model: str = DEFAULT_JUDGE_MODEL, api_key: str | None = None) -> None:
        self.model = model
        self.service = Service.of_environment(key=api_key)

    def grade(
        self, assertion: LLMAssertion, task: Task, trace: ExecutionTrace, env_path: Path | None = None
    ) -> GradeResult:
        """Grade one assertion. Never raises for errors of the service.

        The judge sees only the trace, mainly its diff, so that a resumed matrix shows it the same. `env_path`
        belongs to the graders' common interface and is ignored.
        """
        system, user, omitted = build_prompt(assertion, task, trace)
        question = Question(
            version=VERSION,
            texts=lambda: (system, user),
            schema=RubricVerdict.reply_schema(),
            read=RubricVerdict.read,
            score=lambda verdict: float(verdict["overall_score"]),
        )
        grade = grade_by_verdicts(
            question,
            [self.model],
            [self.service.ask(question, self.model)],
            lambda shown: [CriterionScore(**criterion) for criterion in shown["criteria"]],
            reason="overall_reasoning",
            notes=[f"{omitted} characters of the work did not fit into the prompt"] if omitted else [],
        )
        names = {"assertion_id": assertion.id or "llm_0", "assertion_name": assertion.id or LLM_WEIGHT_KEY}
        return grade.model_copy(update=names)

"""Does the agent's work meet a rubric? A language model judges; an unusable verdict is an error, no fail."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from statistics import median_low
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.graders.judge_prompt import JudgePrompt, build_prompt
from harness.graders.prices import request_cost
from harness.models import (
    LLM_WEIGHT_KEY,
    PASS_SCORE,
    AssertionType,
    CriterionScore,
    ExecutionTrace,
    GradeResult,
    JudgeRecord,
    LLMAssertion,
    Task,
    TokenUsage,
)
from harness.models.model_ids import DEFAULT_JUDGE_MODEL, retirement_warning

if TYPE_CHECKING:
    import anthropic

MAX_TOKENS = 16_000
"""Of a verdict; current models think within it before they write."""
TIMEOUT_SECONDS = 180.0
MAX_RETRIES = 4
"""By the SDK, with backoff, for 408, 409, 429, 5xx and lost connections."""


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


class JudgeError(Exception):
    """A sample that gave no usable verdict; the message says why."""

    def __init__(self, reason: str, usage: TokenUsage | None = None) -> None:
        super().__init__(reason)
        self.usage = usage or TokenUsage()


class LLMGrader:
    """Judges LLM assertions with a model of the Anthropic API.

    `samples` verdicts are asked for; the median one is reported, so that a majority decides whether the
    assertion passes. Without a majority of usable verdicts the grade's status is judge_error. The key comes
    from `api_key` or the environment (ANTHROPIC_API_KEY), and is needed at the first grade only.
    """

    def __init__(self, model: str = DEFAULT_JUDGE_MODEL, api_key: str | None = None, *, samples: int = 1) -> None:
        """`samples`: how many verdicts are asked for; an odd number leaves no ties."""
        if samples < 1:
            raise ValueError(f"samples must be at least 1, got {samples}")
        self.model = model
        self.samples = samples
        self._api_key = api_key
        self._client: anthropic.Anthropic | None = None

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
        started = time.monotonic()
        verdicts: list[JudgeVerdict] = []
        failures: list[str] = []
        usages: list[TokenUsage] = []
        for _ in range(self.samples):
            prompt = build_prompt(assertion, task, trace)
            try:
                verdict, usage = self._ask(prompt)
            except JudgeError as error:
                failures.append(str(error))
                usages.append(error.usage)
            else:
                verdicts.append(verdict)
                usages.append(usage)
        base: dict[str, Any] = {
            "assertion_id": assertion.id or "llm_0",
            "assertion_type": AssertionType.LLM.value,
            "assertion_name": assertion.id or LLM_WEIGHT_KEY,
            "grading_prompt": prompt.text,
            "judge": self._record(verdicts, failures, usages),
            "duration_seconds": time.monotonic() - started,
        }
        if 2 * len(verdicts) <= self.samples:
            details = f"no usable verdict from {self.model}: {'; '.join(dict.fromkeys(failures))}"
            return GradeResult(passed=False, score=0.0, status="judge_error", details=details, **base)
        median = median_low(sorted(verdict.overall_score for verdict in verdicts))
        chosen = next(verdict for verdict in verdicts if verdict.overall_score == median)
        return GradeResult(
            passed=median >= PASS_SCORE,
            score=median,
            details=self._details(verdicts, failures, prompt),
            reasoning=chosen.overall_reasoning,
            full_output=chosen.model_dump_json(indent=2),
            criteria_scores=[CriterionScore(**criterion.model_dump()) for criterion in chosen.criteria],
            **base,
        )

    def _ask(self, prompt: JudgePrompt) -> tuple[JudgeVerdict, TokenUsage]:
        import anthropic

        try:
            message = self._connected().messages.create(
                model=self.model,
                max_tokens=MAX_TOKENS,
                system=prompt.system,
                messages=[{"role": "user", "content": prompt.user}],
                output_config={"format": {"type": "json_schema", "schema": VERDICT_SCHEMA}},
            )
        except anthropic.APIStatusError as error:
            raise JudgeError(f"HTTP {error.status_code}: {_api_message(error)}") from error
        except anthropic.AnthropicError as error:  # timeout, no connection, no key
            raise JudgeError(str(error) or type(error).__name__) from error
        except TypeError as error:  # what the SDK raises for a request without any key
            raise JudgeError(f"{error}; set ANTHROPIC_API_KEY") from error
        usage = TokenUsage(
            input_tokens=message.usage.input_tokens,
            output_tokens=message.usage.output_tokens,
            cache_read_tokens=message.usage.cache_read_input_tokens or 0,
            cache_creation_tokens=message.usage.cache_creation_input_tokens or 0,
        )
        if message.stop_reason != "end_turn":
            raise JudgeError(f"the judge stopped with {message.stop_reason}", usage)
        text = "".join(block.text for block in message.content if block.type == "text")
        try:
            return JudgeVerdict.model_validate_json(text), usage
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "verdict"
            raise JudgeError(f"malformed verdict ({where}: {first['msg']})", usage) from error

    def _connected(self) -> anthropic.Anthropic:
        if self._client is None:
            import anthropic

            self._client = anthropic.Anthropic(api_key=self._api_key, timeout=TIMEOUT_SECONDS, max_retries=MAX_RETRIES)
        return self._client

    def _record(self, verdicts: list[JudgeVerdict], failures: list[str], usages: list[TokenUsage]) -> JudgeRecord:
        scores = [verdict.overall_score for verdict in verdicts]
        costs = [request_cost(self.model, usage) for usage in usages]
        known = [cost for cost in costs if cost is not None]
        return JudgeRecord(
            model=self.model,
            usage=TokenUsage(
                **{name: sum(getattr(usage, name) for usage in usages) for name in TokenUsage.model_fields}
            ),
            cost_usd=sum(known) if len(known) == len(costs) else None,
            samples=scores,
            spread=max(scores) - min(scores) if len(scores) > 1 else None,
            failed_samples=len(failures),
        )

    def _details(self, verdicts: list[JudgeVerdict], failures: list[str], prompt: JudgePrompt) -> str:
        parts = [f"median of {len(verdicts)} verdicts" if len(verdicts) > 1 else "one verdict"]
        if failures:
            parts.append(f"{len(failures)} samples without a verdict ({'; '.join(dict.fromkeys(failures))})")
        if prompt.omitted_chars:
            parts.append(f"{prompt.omitted_chars} characters of the work did not fit into the prompt")
        return ", ".join(parts)


def _api_message(error: anthropic.APIStatusError) -> str:
    body = error.body
    inner = body.get("error") if isinstance(body, dict) else None
    return str(inner.get("message") or error.message) if isinstance(inner, dict) else error.message


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

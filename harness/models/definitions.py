"""Task and config files as models: Task, Config and the assertions of a task."""

from __future__ import annotations

import re
import warnings
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from harness.models.model_ids import DEFAULT_AGENT_MODEL
from harness.models.tools import ToolRule, describe_unknown, tool_rule
from measure.records import LLM_WEIGHT_KEY, ConfigSnapshot, TokenUsage


class Definition(BaseModel):
    """Base of everything a user writes: frozen, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class TaskCategory(StrEnum):
    """What kind of work a task asks for."""

    CODING = "coding"
    REFACTORING = "refactoring"
    EXPLORATION = "exploration"


class TaskDifficulty(StrEnum):
    """How hard the author thinks a task is; reported, never part of the score."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


class AssertionType(StrEnum):
    """Who decides an assertion: a deterministic check or a language model."""

    CODE = "code"
    LLM = "llm"


class CodeCheckType(StrEnum):
    """The deterministic checks."""

    TESTS_PASS = "tests_pass"
    FILE_CONTAINS = "file_contains"
    FILE_EXISTS = "file_exists"
    FILE_NOT_CONTAINS = "file_not_contains"
    COMMAND_SUCCEEDS = "command_succeeds"


CHECK_FIELDS: dict[CodeCheckType, frozenset[str]] = {
    CodeCheckType.TESTS_PASS: frozenset(),
    CodeCheckType.COMMAND_SUCCEEDS: frozenset({"command"}),
    CodeCheckType.FILE_EXISTS: frozenset({"file"}),
    CodeCheckType.FILE_CONTAINS: frozenset({"file", "pattern"}),
    CodeCheckType.FILE_NOT_CONTAINS: frozenset({"file", "pattern"}),
}
"""The fields that each check requires; tests_pass runs `pytest` when no command is given."""


class Assertion(Definition):
    """One thing that must hold after the agent has finished."""

    id: str | None = Field(default=None, min_length=1)
    """Key for `scoring`; without it code_<i>_<check> or llm_<i>, counted per kind from 0."""


class CodeAssertion(Assertion):
    """A deterministic check of the project after the run."""

    type: Literal[AssertionType.CODE] = AssertionType.CODE
    check: CodeCheckType
    command: str | None = None
    """For tests_pass and command_succeeds: run by bash with pipefail, in a copy of the project."""
    file: str | None = None
    """Path inside the project, with forward slashes."""
    pattern: str | None = None
    """Python regular expression, searched with MULTILINE."""
    timeout_seconds: int | None = Field(default=None, gt=0)
    """Time limit of the command; by default 120 s for tests_pass and 60 s for command_succeeds."""

    @field_validator("pattern")
    @classmethod
    def _pattern_compiles(cls, value: str | None) -> str | None:
        try:
            re.compile(value or "")
        except re.error as error:
            raise ValueError(f"not a regular expression: {error}") from error
        return value

    @field_validator("file")
    @classmethod
    def _file_is_inside(cls, value: str | None) -> str | None:
        if value is not None and (value.startswith("/") or ".." in value.split("/")):
            raise ValueError("must be a relative path inside the project")
        return value

    @model_validator(mode="after")
    def _has_the_fields_of_its_check(self) -> CodeAssertion:
        if missing := sorted(name for name in CHECK_FIELDS[self.check] if not getattr(self, name)):
            raise ValueError(f"check {self.check} needs {' and '.join(missing)}")
        return self


class LLMAssertion(Assertion):
    """A quality a language model judges against a rubric."""

    type: Literal[AssertionType.LLM] = AssertionType.LLM
    rubric: str = Field(pattern=r"\S")
    """What the judge should look for, in words."""


def _kind(value: Any) -> Any:
    """Return the kind of an assertion: its `type`, else the kind that has the key `check` or `rubric`."""
    if isinstance(value, Assertion):
        return getattr(value, "type", None)
    if not isinstance(value, dict):
        return None
    kinds = {"check": AssertionType.CODE, "rubric": AssertionType.LLM}
    return value["type"] if "type" in value else next((kind for key, kind in kinds.items() if key in value), None)


AnyAssertion = Annotated[
    Annotated[CodeAssertion, Tag(AssertionType.CODE)] | Annotated[LLMAssertion, Tag(AssertionType.LLM)],
    Discriminator(_kind),
]


def assertion_ids(assertions: list[CodeAssertion | LLMAssertion]) -> list[str]:
    """Return the id of every assertion, in order: its own, else code_<i>_<check> or llm_<i>, counted per kind."""
    ids: list[str] = []
    counts = {AssertionType.CODE: 0, AssertionType.LLM: 0}
    for assertion in assertions:
        number = counts[assertion.type]
        counts[assertion.type] += 1
        default = f"code_{number}_{assertion.check}" if isinstance(assertion, CodeAssertion) else f"llm_{number}"
        ids.append(assertion.id or default)
    return ids


class Resources(Definition):
    """What each container of a task may use at most, with `--sandbox docker`."""

    memory_mb: int = Field(default=8192, ge=6)
    storage_mb: int = Field(default=10240, gt=0)
    """Files in the container and in its folders, the project among them, together."""
    processes: int = Field(default=4096, gt=0)
    """Processes and threads."""


class Task(Definition):
    """Definition of an evaluation task."""

    id: str = Field(min_length=1, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    category: TaskCategory
    description: str
    """What this task tests."""
    difficulty: TaskDifficulty = TaskDifficulty.MEDIUM
    prompt: str = Field(pattern=r"\S")
    """Given to the agent on stdin, as it is."""
    assertions: list[AnyAssertion] = []
    scoring: dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]] = {}
    """Weight by assertion id, by check name, or by llm_quality for judges; 1 without a key, and 0 means 0."""
    fixture_path: Path | None = None
    """Project the agent starts in, relative to the task file; None is an empty project."""
    timeout_seconds: int = Field(default=300, gt=0)
    """Time limit of the agent in seconds; grading has its own limits."""
    resources: Resources = Resources()
    """Limits of the agent's and of each check's container."""
    hidden_path: Path | None = None
    """Files laid over a copy of the project before grading, mostly tests; the agent never sees them."""
    solution_path: Path | None = None
    """Files laid over the fixture that solve the task, for `validate`."""
    sources: list[str] = []
    """Globs of the files that the agent hands in, such as `src/**`, below the project. Checks run in the fixture with
    these files and no others. Without it the agent's whole project counts, and `validate` warns."""
    setup: list[Annotated[str, Field(pattern=r"\S")]] = []
    """Commands such as `npm ci` or `make`, run before the command of each check, in its own copy of the project; 600 s
    for all of them together."""
    language: str = ""
    """Main programming language, to group reports by."""

    @field_validator("sources")
    @classmethod
    def _sources_are_inside(cls, value: list[str]) -> list[str]:
        for glob in value:
            if not glob.strip("/ ") or glob.startswith("/") or {"..", "."} & {*glob.split("/")}:
                raise ValueError(f"{glob!r} must be a relative path inside the project, such as src/**")
        return value

    @field_validator("assertions")
    @classmethod
    def _ids_are_unique(cls, value: list[CodeAssertion | LLMAssertion]) -> list[CodeAssertion | LLMAssertion]:
        ids = assertion_ids(value)
        if twice := sorted({name for name in ids if ids.count(name) > 1}):
            raise ValueError(f"assertion ids are used twice: {', '.join(twice)}")
        return value

    @field_validator("scoring")
    @classmethod
    def _keys_match_an_assertion(cls, value: dict[str, float], info: ValidationInfo) -> dict[str, float]:
        assertions = info.data.get("assertions")
        if assertions is None:  # already reported
            return value
        known = {*assertion_ids(assertions)}
        known |= {str(a.check) for a in assertions if isinstance(a, CodeAssertion)}
        known |= {LLM_WEIGHT_KEY for a in assertions if isinstance(a, LLMAssertion)}
        for key in value:
            if key not in known:
                raise PydanticCustomError(
                    "unknown_scoring_key",
                    "scoring key matches no assertion; give the assertion this id, or use one of: {known}",
                    {"key": key, "known": ", ".join(sorted(known)) or "(the task has no assertions)"},
                )
        return value

    @property
    def code_assertions(self) -> list[CodeAssertion]:
        """The assertions that deterministic checks decide."""
        return [a for a in self.assertions if isinstance(a, CodeAssertion)]

    @property
    def llm_assertions(self) -> list[LLMAssertion]:
        """The assertions that a language model judges."""
        return [a for a in self.assertions if isinstance(a, LLMAssertion)]


class TokenPrices(Definition):
    """Dollars per million tokens."""

    input: float = Field(ge=0, allow_inf_nan=False)
    cached_input: float = Field(ge=0, allow_inf_nan=False)
    output: float = Field(ge=0, allow_inf_nan=False)

    def cost_usd(self, usage: TokenUsage) -> float:
        """Return what a run cost, in dollars; tokens written to the cache cost as much as input."""
        fresh = usage.input_tokens + usage.cache_creation_tokens
        dollars = fresh * self.input + usage.cache_read_tokens * self.cached_input + usage.output_tokens * self.output
        return dollars / 1e6


class Config(Definition):
    """Configuration variant for evaluation runs: what the agent is given."""

    name: str = Field(min_length=1)
    description: str = ""
    claude_md: str | None = None
    """Content of the project's CLAUDE.md; None leaves the fixture's own file alone."""
    skills_path: Path | None = None
    """One skill folder (with SKILL.md) or a folder of them; ~ is expanded, relative to the config file."""
    agents_md: str | None = None
    """Content of the project's AGENTS.md, which the CLAUDE.md of Claude Code's runs imports."""
    model: str = Field(default=DEFAULT_AGENT_MODEL, min_length=1)
    max_turns: int = Field(default=10, gt=0, le=1_000_000)
    """API round trips of the main agent."""
    allowed_tools: list[str] | Literal["all"] = "all"
    """The only tools the agent has: names of built-in tools, mcp__<server> or mcp__<server>__<tool>. A rule such as
    Bash(git *) allows only some uses of a tool."""
    disallowed_tools: list[str] = []
    """Tools, or some uses of them, that the agent may not use; written in the same way."""
    max_budget_usd: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """Dollars after which the CLI ends a run; it may overshoot by one request."""
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    """How hard the model thinks; None is the CLI's default."""
    mcp_config: Path | dict[str, Any] | None = None
    """MCP servers: a JSON file relative to the config file, or its content ({"mcpServers": {...}})."""
    snapshot: Path | None = None
    """File written by export-config, relative to the config file; the agent gets it as its user's configuration."""
    token_prices: TokenPrices | None = None
    """What a model's tokens cost, for an agent that reports tokens and no dollars, such as codex."""
    env: dict[Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")], str] = {}
    """Environment variables of the agent; a value ${NAME} is taken from the host."""

    def to_snapshot(self) -> ConfigSnapshot:
        """Return the part of this config that is recorded with a result."""
        return ConfigSnapshot(
            model=self.model,
            claude_md=self.claude_md[:200] if self.claude_md is not None else None,
            skills_path=str(self.skills_path) if self.skills_path is not None else None,
            max_turns=self.max_turns,
        )

    @property
    def allowed_rules(self) -> list[ToolRule] | None:
        """Entries of `allowed_tools`; None when all tools are allowed."""
        return None if self.allowed_tools == "all" else [tool_rule(entry) for entry in self.allowed_tools]

    @property
    def disallowed_rules(self) -> list[ToolRule]:
        """Entries of `disallowed_tools`."""
        return [tool_rule(entry) for entry in self.disallowed_tools]

    @field_validator("allowed_tools", "disallowed_tools")
    @classmethod
    def _tools_exist(cls, value: list[str] | Literal["all"], info: ValidationInfo) -> list[str] | Literal["all"]:
        for rule in map(tool_rule, value if value != "all" else ()):
            if problem := describe_unknown(rule):  # a later version of the CLI may have it
                warnings.warn(f"config {info.data.get('name')}: {info.field_name}: {problem}", stacklevel=1)
        return value

    @model_validator(mode="after")
    def _skills_can_be_used(self) -> Config:
        allowed = self.allowed_rules
        if self.skills_path is not None and allowed is not None and "Skill" not in {rule.name for rule in allowed}:
            raise ValueError("skills_path has no effect while allowed_tools lacks Skill; add Skill to the list")
        return self

"""What was a run made under, and what did its verifier find? Facts that explain a result beside its score."""

from __future__ import annotations

from harness.models.traces import Record, Whole


class Conditions(Record):
    """What a run was made under beside its task and config; None where it was not recorded."""

    agent: str | None = None
    agent_version: str | None = None
    agent_settings: str | None = None
    """Hash of the agent's settings without its model, MCP servers and skills."""
    base_image: str | None = None
    """What the task's image starts from, as its Dockerfile names it."""
    verifier_mode: str | None = None
    """`separate` or `shared`: whether the verifier has a container of its own."""
    scoring: str | None = None
    scoring_version: str | None = None
    agent_timeout_seconds: float | None = None
    cpus: float | None = None
    memory_mb: Whole | None = None


class Batch(Record):
    """The job or matrix that a run was a part of; None where it was not recorded."""

    name: str
    planned: Whole | None = None
    """Runs it was to make."""
    present: Whole | None = None
    """Runs of it that left a result."""
    finished: bool | None = None
    retries: Whole | None = None
    """Runs that were made again after a failure."""

    @property
    def cut_short(self) -> bool:
        """Whether runs are known to be missing."""
        fewer = self.planned is not None and self.present is not None and self.present < self.planned
        return fewer or self.finished is False


class VerifierJudge(Record):
    """Who graded, as templates/tests/judge.py tells it."""

    model: str = ""
    version: str = ""
    """Of the prompt."""


class VerifierMetrics(Record):
    """What a reward is made of, as verifier/metrics.json of this project's tasks tells it; None: not told."""

    components: dict[str, float | None] = {}
    """Each part of the score, 0 to 1."""
    weights: dict[str, float] = {}
    scoring: str | None = None
    scoring_version: str | None = None
    identifiers: dict[str, float] | None = None
    """Names of the code base that the answer says something about, with their credit, 0 to 1."""
    files: dict[str, float] | None = None
    """Files into which it rightly puts one of them."""
    invented_identifiers: list[str] | None = None
    judge: VerifierJudge | None = None
    """Of a task whose verifier is a judge."""

"""Under which conditions was a run made, and what did its verifier find? Facts that help to explain a score."""

from __future__ import annotations

from harness.models.traces import Record
from locobench.shared.validation import Whole


class Conditions(Record):
    """The conditions of a run other than its task and config; None where not recorded."""

    agent: str | None = None
    agent_version: str | None = None
    agent_settings: str | None = None
    """Hash of the agent's settings without its model, MCP servers and skills."""
    base_image: str | None = None
    """Base of the task's image, as its Dockerfile names it."""
    verifier_mode: str | None = None
    """`separate` or `shared`: whether the verifier has a container of its own."""
    scoring: str | None = None
    scoring_version: str | None = None
    agent_timeout_seconds: float | None = None
    cpus: float | None = None
    memory_mb: Whole | None = None


class Batch(Record):
    """The job or matrix that a run was part of; None where not recorded."""

    name: str
    planned: Whole | None = None
    """Number of runs planned."""
    present: Whole | None = None
    """Number of runs that left a result."""
    finished: bool | None = None
    retries: Whole | None = None
    """Number of runs repeated after a failure."""

    @property
    def cut_short(self) -> bool:
        """Whether runs are known to be missing."""
        fewer = self.planned is not None and self.present is not None and self.present < self.planned
        return fewer or self.finished is False


class VerifierJudge(Record):
    """The judge that graded, as templates/tests/judge.py reports it."""

    model: str = ""
    version: str = ""
    """Version of the prompt."""


class VerifierMetrics(Record):
    """What a reward is made of, as this project's tasks report it in verifier/metrics.json; None: not reported."""

    components: dict[str, float | None] = {}
    """Each part of the score, 0 to 1."""
    weights: dict[str, float] = {}
    scoring: str | None = None
    scoring_version: str | None = None
    identifiers: dict[str, float] | None = None
    """Names in the code base that the answer describes, with the credit for each, 0 to 1."""
    files: dict[str, float] | None = None
    """Files in which the answer correctly places one of these names."""
    invented_identifiers: list[str] | None = None
    judge: VerifierJudge | None = None
    """Set when the task's verifier is a judge."""

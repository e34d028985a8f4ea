"""A benchmark author's choices about the tasks: image, limits, scoring, servers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from locobench.dataset.catalog import BASE_IMAGE
from locobench.harbor.mcp import McpServer
from locobench.scoring.grader import DETERMINISTIC, JUDGE, Grader
from locobench.scoring.scoring import Scoring
from locobench.shared.errors import InputError

PROJECT, PROJECT_FOR_TESTS = "environment/project", "tests/project"

# Matches names and tags such as 22-alpine3.20. Only a build shows what an image really contains.
_WITHOUT_APT = re.compile(
    r"\b(almalinux|alpine|amazonlinux|archlinux|busybox|centos|distroless|fedora|opensuse|oraclelinux|photon"
    r"|rockylinux|scratch|ubi|wolfi)(?![a-z])"
)
_IMAGE = re.compile(r"[A-Za-z0-9][\w.:/@-]*", re.ASCII)


@dataclass(frozen=True)
class Options:
    """A benchmark author's choices. InputError if one cannot be used."""

    base_image: str = BASE_IMAGE
    languages: Path | None = None
    """A file with language tables that add to or override the built-in ones."""
    language_image: str | None = None
    """Prebuilt images to start from instead; `{language}` stands for the language's name."""
    include_hints: bool = False
    """Put the expected approach and the evaluation criteria into the instruction, as the published tasks do."""
    shared_verifier: bool = False
    """Run the tests in the agent's container instead of a fresh one that the agent never touched."""
    strip_code_fences: bool = False
    """Remove the Markdown fence around project files that are wrapped in one."""
    scoring: Scoring | Literal["published"] = field(default_factory=Scoring.default)
    """How answers are scored: by evidence from the code base, or by the published verifier's formula."""
    mcp_servers: tuple[McpServer, ...] = ()
    """Tool servers that Harbor gives to the agent."""
    verifier: Grader = DETERMINISTIC
    """What grades the answers."""
    closed_book: bool = False
    """Leave the code out of the agent's image, to see what can be answered without reading it."""
    agent_timeout_sec: float = 1800.0
    """Seconds that the agent has for one task."""
    cpus: int = 2
    memory_mb: int = 4096
    storage_mb: int = 10240
    """Limits of the containers; megabytes as Harbor counts them."""

    pilot_runs: tuple[str, ...] = ()
    """Ids of the runs by which the task was selected, which must not count in a comparison over it."""
    measured_difficulty: str = ""
    """What these runs measured: `ceiling`, `between` or `floor`."""

    def __post_init__(self) -> None:
        if match := _WITHOUT_APT.search(re.sub(r"^[^/]*[.:][^/]*/", "", self.base_image)):
            raise InputError(
                f"base_image: {self.base_image!r}: {match[0]} has no apt-get, which tasks need; name a"
                " Debian or Ubuntu image"
            )
        if self.language_image is not None and self.language_image.count("{language}") != 1:
            raise InputError(f"language_image: expected one {{language}} in the name, got {self.language_image!r}")
        for name in ("base_image", "language_image"):
            image = getattr(self, name)
            if image is not None and not _IMAGE.fullmatch(image.replace("{language}", "c")):
                raise InputError(f"{name}: not an image name: {image!r}")
        for name in ("agent_timeout_sec", "cpus", "memory_mb", "storage_mb"):
            if not 0 < getattr(self, name) < float("inf"):
                raise InputError(f"{name}: must be above 0, not {getattr(self, name)}")
        if self.verifier == JUDGE and self.shared_verifier:
            raise InputError(
                "a judge needs a container of its own: with a shared verifier, the agent could read the judge's key"
            )

    @property
    def project_place(self) -> str | None:
        """Where the project goes in a task's folder: for agent and tests, for the tests only, or None for nowhere."""
        if not self.closed_book:
            return PROJECT
        # The deterministic verifier reads the index in its key instead.
        return None if self.verifier == DETERMINISTIC else PROJECT_FOR_TESTS

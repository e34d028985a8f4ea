"""A benchmark author's choices about the tasks: image, limits, scoring, servers."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from locobench.dataset.catalog import BASE_IMAGE
from locobench.harbor.mcp import McpServer
from locobench.shared.errors import InputError

PROJECT, PROJECT_FOR_TESTS = "environment/project", "tests/project"


@dataclass(frozen=True)
class CustomVerifier:
    """A user's own verify.py, which replaces the project's in every task."""

    name: str
    """The file's name, which task.toml records."""
    content: bytes

    @classmethod
    def load(cls, path: Path) -> CustomVerifier:
        """Read a verifier, without running it; raise InputError if it is not valid Python."""
        try:
            content = path.read_bytes()
            ast.parse(content, path.name)
        except OSError as error:
            raise InputError(
                f"{path}: cannot be read: {error.strerror}; --verifier takes a Python file (docs/CUSTOM_VERIFIER.md)"
            ) from None
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise InputError(f"{path}: not valid Python: {error or type(error).__name__}") from None
        return cls(path.name, content)


@dataclass(frozen=True)
class Options:
    """A benchmark author's choices."""

    base_image: str = BASE_IMAGE
    languages: Path | None = None
    """A file with language tables that add to or override the built-in ones."""
    language_image: str | None = None
    """Prebuilt images to start from instead; `{language}` stands for the language's name."""
    include_hints: bool = False
    """Put the expected approach and the evaluation criteria into the instruction, as the published tasks do."""
    scoring: Literal["evidence", "published"] = "evidence"
    """How answers are scored: by evidence from the code base, or by the published verifier's formula."""
    mcp_servers: tuple[McpServer, ...] = ()
    """Tool servers that Harbor gives to the agent."""
    verifier: CustomVerifier | None = None
    """A program of the author's that scores the answers, in place of the project's."""
    closed_book: bool = False
    """Leave the code out of the agent's image, to see what can be answered without reading it."""
    agent_timeout_sec: float = 1800.0
    """Seconds that the agent has for one task."""
    cpus: int = 2
    memory_mb: int = 4096
    storage_mb: int = 10240
    """Limits of the containers; megabytes as Harbor counts them."""

    pilots: Mapping[str, tuple[tuple[str, ...], str]] = field(default_factory=dict)
    """Task's id -> ids of the runs by which it was selected, which must not count in a comparison over it, and what
    they measured: `ceiling`, `between` or `floor`."""

    @property
    def project_place(self) -> str | None:
        """Where the project goes in a task's folder: for agent and tests, for the tests only, or None for nowhere."""
        if not self.closed_book:
            return PROJECT
        # The project's own verifier reads the index in its key instead.
        return PROJECT_FOR_TESTS if self.verifier else None

"""Time limits of a smoke test, in a module of their own so that --help can show them without other imports."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Time limits in seconds."""

    build: float = 900
    """For building one image."""
    step: float = 300
    """For one command in a container: the answer, the verifier, the toolchain's check, the project's tests."""

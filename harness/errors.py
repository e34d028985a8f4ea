"""Which errors end a command with one line on stderr and exit code 2, and nothing else."""

from __future__ import annotations

from locobench.shared.errors import InputError as InputError


class IsolationError(RuntimeError):
    """The environment of a run could not be built as the task and config ask, so the run must not start."""

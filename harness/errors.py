"""Errors that end a command with one line on stderr and exit code 2, or a matrix with the runs that it has."""

from __future__ import annotations

from locobench.shared.errors import InputError as InputError


class TaskError(InputError):
    """A task cannot be checked here, whoever works on it. Others may be."""


class IsolationError(RuntimeError):
    """The environment that the task and config ask for could not be built, so the run must not start."""


class StopMatrix(Exception):
    """No further run of a matrix can be made; those in progress still finish. The message says why."""

"""The error that ends a command with one line on stderr and exit code 2."""

from __future__ import annotations


class InputError(ValueError):
    """User input cannot be used. The message is one line: what, where, and how to fix it."""

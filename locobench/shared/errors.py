"""The error that ends a command with one line on stderr and exit code 2."""

from __future__ import annotations


class InputError(ValueError):
    """User input cannot be used. Each argument is a problem in one line: what, where, and how to fix it."""

    def __str__(self) -> str:
        return "\n".join(map(str, self.args))

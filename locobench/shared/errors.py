"""The error that ends a command with one line on stderr and exit code 2."""

from __future__ import annotations


class InputError(ValueError):
    """Something the user gave cannot be used; the message is one line: what, where, the way out."""

"""Loads a user's own executor by the name of its class."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from harness.agents.base import Executor
from harness.errors import InputError


def executor_of(name: str) -> Executor:
    """Import the class `module:Class` and call it without arguments.

    Args:
        name: the class. The module may also be in the current folder.

    Raises:
        InputError: there is no such class, it is not an Executor, or it cannot be instantiated.
    """
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise InputError(f"executor {name!r}: none of that name; name claude, command, echo or MODULE:CLASS")
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)
    try:
        made = getattr(importlib.import_module(module), attribute)()
    except Exception as error:  # user code may raise anything
        raise InputError(f"executor {name}: {type(error).__name__}: {error}; see that it can be imported") from error
    if not isinstance(made, Executor):
        raise InputError(f"executor {name}: no Executor; derive it from harness.executor.Executor")
    return made

"""Measures coding agents: runs Claude Code on tasks in isolation, grades, compares and reports.

The names of the API can be imported from here; each is looked up when it is first asked for. `__init__.pyi` has their
types.
"""

import importlib
from typing import Any

_MODULES = {
    "ClaudeExecutor": "harness.executor",
    "CodeGrader": "harness.graders.code_graders",
    "CompositeGrader": "harness.graders.composite_grader",
    "Config": "harness.models",
    "ConfigExporter": "harness.config_exporter",
    "ConfigImporter": "harness.config_importer",
    "EnvironmentIsolator": "harness.isolator",
    "EvalResult": "harness.models",
    "EvalRunner": "harness.runner",
    "Executor": "harness.executor",
    "InputError": "locobench.shared.errors",
    "LLMGrader": "harness.graders.llm_graders",
    "MatrixStopped": "harness.runner",
    "Reporter": "harness.reporter",
    "Task": "harness.models",
}
__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULES[name]), name)

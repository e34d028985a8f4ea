"""Measures coding agents: runs Claude Code on tasks in isolation, grades, compares and reports.

The names of the API can be imported from here; each is looked up when it is first asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.config_exporter import ConfigExporter as ConfigExporter
    from harness.config_importer import ConfigImporter as ConfigImporter
    from harness.executor import ClaudeExecutor as ClaudeExecutor
    from harness.executor import Executor as Executor
    from harness.graders.code_graders import CodeGrader as CodeGrader
    from harness.graders.composite_grader import CompositeGrader as CompositeGrader
    from harness.graders.llm_graders import LLMGrader as LLMGrader
    from harness.isolator import EnvironmentIsolator as EnvironmentIsolator
    from harness.models import Config as Config
    from harness.models import EvalResult as EvalResult
    from harness.models import Task as Task
    from harness.reporter import Reporter as Reporter
    from harness.runner import EvalRunner as EvalRunner
    from harness.runner import MatrixStopped as MatrixStopped

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

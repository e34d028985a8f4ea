"""Runs of tasks: one, or a matrix of tasks, configs and models; and Harbor trials graded by judges."""

from __future__ import annotations

from harness.runner.eval_runner import EvalRunner
from harness.runner.matrix import MatrixStopped

__all__ = ["EvalRunner", "MatrixStopped"]

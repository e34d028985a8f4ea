"""The scripts know neither each other nor the harness; what the packages may import, `make check` checks."""

from __future__ import annotations

import ast

import pytest

from tests.conftest import REPOSITORY

SCRIPTS = ("derive_scenarios", "extract_dataset", "select_tasks", "run_adapter", "smoke_test")


@pytest.mark.parametrize("name", [*SCRIPTS, "adapter"])
def test_script_imports_neither_another_script_nor_the_harness(name: str) -> None:
    nodes = list(ast.walk(ast.parse((REPOSITORY / f"{name}.py").read_text())))
    found = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    found |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    assert not {module.partition(".")[0] for module in found} & {*SCRIPTS, "harness"}

"""Whether imports run one way: from the commands down to the models, and never back."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.support.suite import REPOSITORY

LAYERS = (
    {"__main__"},
    {"cli"},
    {"runner"},
    {"run"},
    {"executor", "isolator", "reporter", "config_exporter", "config_importer"},
    {"results", "claude"},
    {"report"},
    {"graders", "suite"},
    {"compare", "host"},
    {"statistics"},
    {"models"},
    {"errors"},
)
"""Rooms and modules of the harness; each imports from those below it, and from none beside it."""

DEPTH = {room: number for number, layer in enumerate(LAYERS) for room in layer}
HARNESS = REPOSITORY / "harness"
MODULES = sorted(path for path in HARNESS.rglob("*.py") if path != HARNESS / "__init__.py")


def room_of(parts: tuple[str, ...]) -> str:
    return parts[1].removesuffix(".py")


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(HARNESS)))
def test_a_module_imports_from_below_alone(module: Path) -> None:
    own = room_of(module.relative_to(REPOSITORY).parts)
    wrong = [
        name
        for name in _imported(module)
        if name.split(".")[0] in ("pipeline", "adapter")
        or (name.startswith("harness.") and room_of(tuple(name.split("."))) != own and not _below(name, own))
    ]
    assert wrong == []


def _below(name: str, own: str) -> bool:
    return DEPTH[room_of(tuple(name.split(".")))] > DEPTH[own]


def _imported(module: Path) -> list[str]:
    names = []
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names

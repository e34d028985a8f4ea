"""Tasks without the code."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from locobench.harbor.mcp import McpServer
from tests.pipeline.test_adapter import generate, local_reward
from tests.support.data_builder import FILES, Data, tree


def both(data: Data, tmp_path: Path, **options: Any) -> tuple[Path, Path]:
    """The same task with and without the code."""
    data.project()
    data.scenario()
    return (
        generate(data, tmp_path / "open", **options),
        generate(data, tmp_path / "closed", closed_book=True, **options),
    )


def test_no_line_of_the_code_is_in_the_agents_image(data: Data, tmp_path: Path) -> None:
    _, closed = both(data, tmp_path)
    context = tree(closed / "environment")

    assert list(context) == ["Dockerfile"]
    assert b"COPY" not in context["Dockerfile"]
    assert not any(content in (closed / "instruction.md").read_text() for content in FILES.values())
    assert not (closed / "tests/project").exists(), "verify.py has its index"
    assert tomllib.loads((closed / "task.toml").read_text())["metadata"]["closed_book"] is True


def test_the_question_is_the_same_and_says_that_there_is_no_code(data: Data, tmp_path: Path) -> None:
    opened, closed = ((task / "instruction.md").read_text() for task in both(data, tmp_path))

    assert opened[opened.index("# Old prices") :] == closed[closed.index("# Old prices") :]
    assert "not in this container" in closed
    assert "/app/project" not in closed
    assert "tools" not in closed
    assert "not in this container" not in opened


def test_with_a_server_the_agent_is_told_of_its_tools(data: Data, tmp_path: Path) -> None:
    server = McpServer(name="code-search", transport="streamable-http", url="http://search:8000/mcp")
    _, closed = both(data, tmp_path, mcp_servers=(server,))

    told = " ".join((closed / "instruction.md").read_text().split())
    project = tomllib.loads((closed / "task.toml").read_text())["metadata"]["project_id"]
    assert f"through your tools alone (code-search), where it may be called `{project}`" in told


def test_it_is_graded_alike(data: Data, tmp_path: Path) -> None:
    opened, closed = both(data, tmp_path)

    assert (opened / "tests/ground_truth.json").read_bytes() == (closed / "tests/ground_truth.json").read_bytes()
    assert local_reward(closed, tmp_path / "root", None) == 1.0

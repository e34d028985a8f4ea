"""Whether paths may be strings wherever the API takes a path."""

from __future__ import annotations

from pathlib import Path

from harness.executor import ClaudeExecutor
from harness.isolator import EnvironmentIsolator
from harness.models import Config
from harness.reporter import Reporter
from harness.runner import EvalRunner
from measure.results.sources import load_source
from tests.support.suite import make_suite


def test_a_run_is_made_saved_and_read_by_string_paths(tmp_path: Path) -> None:
    root = make_suite(tmp_path / "s", tasks=1, configs=1)
    (root / "base").mkdir()
    (root / "mcp.json").write_text('{"mcpServers": {}}')
    executor = ClaudeExecutor(str(root / "bin/claude"), mcp_config_path=str(root / "mcp.json"))
    runner = EvalRunner(executor, isolator=EnvironmentIsolator(str(root / "base")), results_dir=str(root / "results"))
    task = runner.load_task(str(root / "tasks/t0.task.yaml"))
    config = runner.load_config(str(root / "configs/c0/config.yaml"))
    results = runner.run_matrix([task], [config], None, 1, journal=str(root / "j.jsonl"))
    assert [result.passed for result in results] == [True]
    path = str(runner.save_results(results, str(root / "out.json")))
    Reporter().export_json(results, str(root / "export.json"))
    for source in (path, str(root / "export.json"), str(root / "j.jsonl")):
        assert [result.task_id for result in load_source(source)] == ["t0"]
    assert [result.task_id for result in runner.load_results(path)] == ["t0"]


def test_an_agent_works_in_a_folder_that_is_a_string(tmp_path: Path) -> None:
    claude = make_suite(tmp_path / "s", tasks=1, configs=1) / "bin/claude"
    (tmp_path / "work").mkdir()
    ClaudeExecutor(str(claude)).run("p", Config(name="c"), str(tmp_path / "work"))
    assert (tmp_path / "work/answer.txt").read_text() == "right\n"

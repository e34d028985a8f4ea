"""Questions with exact answers, all the way: derived, generated, answered with and without a server, compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.models import EvalResult
from locobench.harbor.task import TaskFolder
from measure.compare.comparison import compare_arms
from measure.report.html import render
from tests.conftest import REPOSITORY, Script
from tests.derive.repositories import CHAIN, PADDING, commit
from tests.examples.test_code_search import serve
from tests.support.in_process import run_in_process
from tests.support.results import run
from tools.grep_answers import reward

PROGRAM = REPOSITORY / "examples" / "code-search" / "scripted_program.py"
# One question of the control group: a helper with one user in each of four files.
DESK = "from shop.amounts import other_thing\n\n\ndef desk_{0}():\n    return other_thing()\n"
MORE = {f"shop/rest_5_desk_{number}.py": DESK.format(number) for number in range(4)}


@pytest.mark.slow
def test_the_agent_without_a_model_earns_more_with_the_server_and_compare_says_so(
    tmp_path: Path, script: Script
) -> None:
    commit(tmp_path / "shop", CHAIN | PADDING | MORE)
    data, dataset, tasks, repos = (tmp_path / name for name in ("data", "d.jsonl", "tasks", "repos"))
    script("derive_scenarios.py", tmp_path / "shop", "--output_dir", data, "--quiet")
    script("extract_dataset.py", "--data_dir", data, "--output", dataset)
    made = ("--data_dir", data, "--dataset_path", dataset, "--output_dir", tasks, "--mirror_repos", repos)
    assert script("run_adapter.py", *made).returncode == 0

    server = serve(repos, "--port", "0")
    assert server.stdout is not None
    url = server.stdout.readline().split()[-1]
    try:
        arms = {name: answered(tasks, servers, tmp_path) for name, servers in {"without": [], "with": [url]}.items()}
    finally:
        server.terminate()
        server.communicate(timeout=20)
    assert {result.overall_score for result in arms["without"]} == {0.0}
    assert all(result.overall_score > 0.5 for result in arms["with"])
    found = compare_arms(list(arms.items()), metric="score")
    (comparison,) = found.comparisons
    assert comparison.decision.difference > 0.5
    assert any(line.startswith("The control group") for line in comparison.warnings)
    assert "The control group" in render(list(arms.items()), found, "Search")


def answered(tasks: Path, urls: list[str], folder: Path) -> list[EvalResult]:
    """Let the agent answer every task, and its own verifier score the answers."""
    servers, trajectory, answer = (folder / name for name in ("servers.json", "trajectory.json", "answer.md"))
    servers.write_text(json.dumps([{"name": "code-search", "url": url} for url in urls]))
    results = []
    for task in sorted(path for path in tasks.iterdir() if (path / "task.toml").is_file()):
        given = (servers, task / "instruction.md", trajectory, answer)
        assert run_in_process(PROGRAM, [str(place) for place in given]).returncode == 0
        derived = TaskFolder.read(task).toml.metadata.derived
        assert derived is not None
        results.append(run(task.name, score=reward(task, answer.read_text()), groups=derived.groups))
    return results

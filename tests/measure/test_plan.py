"""plan: what it writes, what it says of dollars and power, and what it refuses."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.conftest import Script
from tests.support.results import results_json, run
from tests.support.suite import REPOSITORY, harness

SERVERS = {"search": {"type": "http", "url": "http://index:80/mcp"}}
TASK = "[agent]\ntimeout_sec = 3000\n[verifier]\ntimeout_sec = 100\n[environment]\nbuild_timeout_sec = 500\n"


def make_tasks(root: Path, count: int = 4, toml: str = TASK) -> Path:
    for number in range(count):
        folder = root / "tasks" / f"t{number}"
        (folder / "environment").mkdir(parents=True)
        (folder / "tests").mkdir()
        (folder / "task.toml").write_text(toml)
        (folder / "instruction.md").write_text("Do it.")
        (folder / "tests/test.sh").write_text("#!/bin/bash\n")
    (root / "mcp.json").write_text(json.dumps({"mcpServers": SERVERS}))
    return root / "tasks"


def plan(root: Path, *more: str, budget: str = "10") -> subprocess.CompletedProcess[str]:
    fixed = ("--agent", "claude-code", "--model", "p/m", "--mcp-config", "mcp.json", "--budget-usd", budget)
    return harness(root, "plan", "tasks", *fixed, *more)


def job(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = YAML(typ="safe").load(path)
    return content


def line(shown: subprocess.CompletedProcess[str], name: str) -> str:
    assert shown.returncode == 0, shown.stderr
    return next(text for text in shown.stdout.splitlines() if text.startswith(f"{name}:"))


def earlier(
    root: Path, *, cost: float | None = 0.1, served_cost: float | None = 0.3, model: str = "m", effect: float = 0.0
) -> None:
    """Two runs of two tasks without a server and with one, which has an effect on one of them."""
    results = [
        run(
            task,
            config,
            index=index,
            model=model,
            score=score + 0.2 * index + (effect if servers and task == "a" else 0.0),
            cost=price,
            trace={"offered": {"servers": servers}},
        )
        for config, price, servers in (("bare", cost, {}), ("with", served_cost, {"search": ""}))
        for task, score in (("a", 0.2), ("b", 0.6))
        for index in range(2)
    ]
    (root / "earlier.json").write_text(results_json(results))


def test_questions_whose_answer_a_server_may_hold_are_counted(tmp_path: Path) -> None:
    history = make_tasks(tmp_path, count=1, toml=TASK + '[metadata.derived]\ntier = "history"\n')
    shutil.move(history, tmp_path / "history")
    shutil.move(make_tasks(tmp_path, count=2), tmp_path / "syntax")
    shutil.copytree(tmp_path / "syntax", tmp_path / "tasks")
    assert "later commit" not in plan(tmp_path).stdout
    for name in ("without.yaml", "with.yaml"):
        (tmp_path / name).unlink()
    shutil.move(tmp_path / "history/t0", tmp_path / "tasks/h0")
    assert "! 1 task asks which functions a later commit changed." in plan(tmp_path).stdout


def test_the_jobs_differ_in_name_and_servers_alone(tmp_path: Path) -> None:
    make_tasks(tmp_path)
    assert plan(tmp_path).returncode == 0
    without, with_ = job(tmp_path / "without.yaml"), job(tmp_path / "with.yaml")
    retry = without["retry"]
    repeated = {"EnvironmentStartTimeoutError", "ApiOverloadedError", "ApiRateLimitError"}
    own = {"AgentTimeoutError", "NonZeroAgentExitCodeError", "ContextWindowExceededError", "OutputTokenExceededError"}
    assert own <= set(retry["exclude_exceptions"])
    assert repeated.isdisjoint(retry["exclude_exceptions"])
    assert without == {
        "job_name": "no-search",
        "n_attempts": 1,
        "retry": {"max_retries": 2, "exclude_exceptions": retry["exclude_exceptions"]},
        "agents": [{"name": "claude-code", "model_name": "p/m"}],
        "datasets": [{"path": "tasks"}],
    }
    assert with_.pop("job_name") == "search"
    assert with_["agents"][0].pop("mcp_servers") == [
        {"name": "search", "transport": "streamable-http", "args": [], "url": "http://index:80/mcp"}
    ]
    assert with_ == {key: value for key, value in without.items() if key != "job_name"}


def test_jobs_with_a_server_of_this_machine_share_a_way_to_it(tmp_path: Path) -> None:
    make_tasks(tmp_path)
    shutil.copy(REPOSITORY / "examples/code-search/mcp.json", tmp_path)
    shown = plan(tmp_path, "-o", "made")
    assert shown.stdout.startswith("wrote made/without.yaml and made/with.yaml, which share made/host.yaml\n")
    overlays = [job(tmp_path / "made" / f"{arm}.yaml")["environment"] for arm in ("without", "with")]
    assert overlays == [{"extra_docker_compose": ["made/host.yaml"]}] * 2
    assert job(tmp_path / "made/host.yaml") == job(REPOSITORY / "examples/code-search/host.yaml")


def test_a_server_that_a_container_would_seek_in_itself_is_refused(tmp_path: Path) -> None:
    make_tasks(tmp_path)
    (tmp_path / "mcp.json").write_text('{"mcpServers": {"s": {"type": "http", "url": "http://localhost:80/mcp"}}}')
    shown = plan(tmp_path)
    assert (shown.returncode, shown.stderr.count("\n")) == (2, 1)
    assert "s: inside a container, localhost is the container itself; write host.docker.internal" in shown.stderr
    assert not list(tmp_path.glob("*.yaml"))


def test_an_agent_of_a_module_is_an_import_path(tmp_path: Path) -> None:
    make_tasks(tmp_path)
    fixed = ("--mcp-config", "mcp.json", "--budget-usd", "1")
    assert harness(tmp_path, "plan", "tasks", "--agent", "mine:Agent", *fixed).returncode == 0
    assert job(tmp_path / "without.yaml")["agents"] == [{"import_path": "mine:Agent"}]


def test_what_nothing_tells_is_not_known(tmp_path: Path) -> None:
    make_tasks(tmp_path)
    shown = plan(tmp_path)
    assert line(shown, "trials").startswith("trials:  8 = 4 tasks x 1 attempt x 2 jobs")
    assert line(shown, "dollars").startswith("dollars: not known; the budget is $10.00")
    assert line(shown, "power") == "power:   not known without earlier runs (--from)"


def test_the_commands_run_both_jobs_and_compare_them(tmp_path: Path) -> None:
    make_tasks(tmp_path)
    shown = plan(tmp_path, "-o", "my plan")
    assert "  harbor run -y -c 'my plan/without.yaml'\n  harbor run -y -c 'my plan/with.yaml'\n" in shown.stdout
    assert "  python -m harness compare jobs/no-search jobs/search --html" in shown.stdout


def test_a_pilot_comes_first_unless_earlier_runs_are_given(tmp_path: Path) -> None:
    make_tasks(tmp_path)
    lines = plan(tmp_path, "-o", "first").stdout.splitlines()
    pilot = next(n for n, text in enumerate(lines) if "--job-name pilot" in text)
    assert lines[pilot].startswith("  harbor run -y -c first/without.yaml -k 1 --job-name pilot  # once each: 4 trials")
    assert lines[pilot + 1].startswith("  python -m harness headroom jobs/pilot")
    assert lines[pilot + 2] == "  harbor run -y -c first/without.yaml"
    earlier(tmp_path)
    assert "pilot" not in plan(tmp_path, "--from", "earlier.json").stdout


def test_costs_are_those_of_earlier_runs_in_each_arm(tmp_path: Path) -> None:
    make_tasks(tmp_path)
    earlier(tmp_path)
    shown = plan(tmp_path, "--from", "earlier.json", budget="4")
    # 4 tasks x 2 attempts x (0.1 + 0.3) dollars.
    assert line(shown, "dollars").startswith(
        "dollars: about $3.20, from 8 earlier runs in earlier.json; the budget is $4.00"
    )


def test_the_budget_decides_the_attempts(tmp_path: Path) -> None:
    make_tasks(tmp_path)
    earlier(tmp_path)
    assert "x 3 attempts x" in line(plan(tmp_path, "--from", "earlier.json", budget="5"), "trials")
    assert job(tmp_path / "with.yaml")["n_attempts"] == 3


def test_a_budget_that_does_not_pay_is_refused_and_nothing_written(tmp_path: Path) -> None:
    make_tasks(tmp_path)
    earlier(tmp_path)
    shown = plan(tmp_path, "--from", "earlier.json", budget="1")
    assert shown.returncode == 2
    assert "one attempt costs about $1.60; the budget pays for 2 of the 4 tasks" in shown.stderr
    assert not list(tmp_path.glob("*.yaml"))


def test_more_attempts_find_smaller_differences(tmp_path: Path) -> None:
    make_tasks(tmp_path, count=20)
    earlier(tmp_path, effect=0.2)

    def detectable(attempts: int) -> float:
        budget = f"{attempts * 20 * (0.1 + 0.3) + 0.1:.2f}"
        shown = plan(tmp_path, "--from", "earlier.json", "-o", str(attempts), budget=budget)
        return float(line(shown, "power").split("a fall of ")[1].split()[0])

    # The noise falls with the root of the attempts.
    assert detectable(2) == pytest.approx(2 * detectable(8), abs=0.15)


def test_power_is_not_known_where_no_two_runs_differ(tmp_path: Path) -> None:
    make_tasks(tmp_path, count=20)
    earlier(tmp_path)
    assert "not known (the earlier results hold no two" in line(plan(tmp_path, "--from", "earlier.json"), "power")


def test_power_needs_two_runs_of_a_task(tmp_path: Path) -> None:
    make_tasks(tmp_path)
    (tmp_path / "earlier.json").write_text(results_json([run("a", model="m"), run("b", model="m")]))
    shown = plan(tmp_path, "--from", "earlier.json")
    assert "not known (the earlier results hold no two measured runs of a task that differ)" in line(shown, "power")


def test_each_server_is_a_job_of_its_own(tmp_path: Path) -> None:
    make_tasks(tmp_path)
    (tmp_path / "index.json").write_text(json.dumps({"mcpServers": SERVERS}))
    earlier(tmp_path)
    shown = plan(tmp_path, "--mcp-config", "index.json", "--from", "earlier.json", budget="3")
    assert {path.stem for path in tmp_path.glob("*.yaml")} == {"no-search", "mcp", "index"}
    assert line(shown, "trials") == "trials:  12 = 4 tasks x 1 attempt x 3 jobs"
    # 4 tasks x (0.1 + 2 x 0.3) dollars.
    assert line(shown, "dollars").startswith("dollars: about $2.80")
    assert "compare jobs/no-search jobs/mcp jobs/index --html" in shown.stdout


def test_two_servers_of_one_name_are_refused(tmp_path: Path) -> None:
    make_tasks(tmp_path)
    shown = plan(tmp_path, "--mcp-config", "mcp.json")
    assert shown.returncode == 2
    assert "they need different names, not: mcp, mcp" in shown.stderr


@pytest.mark.parametrize(
    ("repositories", "claim"),
    [
        (0, "claim:   not known: the tasks name no repository"),
        (1, "claim:   A comparison of these tasks speaks for this repository alone; to speak for others,"),
        (8, "claim:   A comparison of these tasks speaks for repositories like these 8."),
    ],
)
def test_the_kind_of_claim_is_said_before_any_run(tmp_path: Path, repositories: int, claim: str) -> None:
    folder = make_tasks(tmp_path, count=16)
    for number, task in enumerate(sorted(folder.iterdir())):
        named = f'repository = "r{number % repositories}"' if repositories else ""
        section = f'[metadata]\nproject_id = "commit{number}"\n[metadata.derived]\n{named}\n' if repositories else ""
        (task / "task.toml").write_text(TASK + section)
    assert line(plan(tmp_path), "claim").startswith(claim)


def test_costs_of_another_model_tell_nothing(tmp_path: Path) -> None:
    make_tasks(tmp_path)
    earlier(tmp_path, model="other")
    shown = plan(tmp_path, "--from", "earlier.json")
    assert (shown.returncode, shown.stderr.count("\n")) == (2, 1)
    assert "earlier.json: holds no run of the model p/m" in shown.stderr


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    make_tasks(tmp_path)
    (tmp_path / "with.yaml").touch()
    shown = plan(tmp_path)
    assert (shown.returncode, shown.stdout) == (2, "")
    assert "with.yaml exists" in shown.stderr
    assert not (tmp_path / "without.yaml").exists()


def test_tasks_with_servers_of_their_own_are_refused(tmp_path: Path) -> None:
    """Both jobs would have them, and their comparison would say nothing of them."""
    make_tasks(tmp_path, toml=TASK + '[[environment.mcp_servers]]\nname = "s"\ntransport = "stdio"\ncommand = "x"\n')
    shown = plan(tmp_path)
    assert shown.returncode == 2
    assert ": brings MCP servers of its own" in shown.stderr


def test_folders_that_harbor_would_skip_do_not_count(tmp_path: Path) -> None:
    (make_tasks(tmp_path) / "t1/instruction.md").unlink()
    shown = plan(tmp_path)
    assert "3 tasks x" in line(shown, "trials")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"mcpServers": {}}', "holds no server"),
        (
            '{"mcpServers": {"s": {"type": "http", "url": "u", "headers": {"Authorization": "secret"}}}}',
            "the header Authorization holds a credential, which Harbor takes from a variable alone",
        ),
        ('{"mcpServers": {"s": {"command": "x", "headers": {"A": "b"}}}}', "a stdio server has no headers"),
        ('{"mcpServers": {"s": {"command": "x", "env": {"A": "b"}}}}', "Harbor passes on command and args, or url and"),
    ],
)
def test_servers_that_harbor_cannot_pass_on_are_refused(tmp_path: Path, content: str, words: str) -> None:
    make_tasks(tmp_path)
    (tmp_path / "mcp.json").write_text(content)
    shown = plan(tmp_path)
    assert (shown.returncode, shown.stderr.count("\n")) == (2, 1)
    assert words in shown.stderr
    assert "secret" not in shown.stderr


@pytest.mark.parametrize("value", ["token ${TOKEN}", "Bearer ${TOKEN}", "${USER}:${TOKEN}"])
@pytest.mark.parametrize("kind", [{"type": "http"}, {"transport": "http"}, {"transport": "streamable-http"}, {}])
def test_headers_whose_credentials_are_variables_pass_into_the_job(
    tmp_path: Path, kind: dict[str, str], value: str
) -> None:
    make_tasks(tmp_path)
    server = {**kind, "url": "https://s", "headers": {"Authorization": value, "X-Team": "search"}}
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": {"s": server}}))
    shown = harness(tmp_path, "plan", "tasks", "--agent", "codex", "--mcp-config", "mcp.json", "--budget-usd", "1")
    assert "headers need Harbor 0.26 or later" in shown.stdout
    (given,) = YAML(typ="safe").load((tmp_path / "with.yaml").read_text())["agents"][0]["mcp_servers"]
    assert given["transport"] == "streamable-http"
    assert given["headers"] == {"Authorization": value, "X-Team": "search"}


@pytest.fixture
def remote(tmp_path: Path, script: Script) -> Path:
    """A folder with the same two tasks at hand (tasks) and without the code (far)."""
    sample, dataset = REPOSITORY / "data/sample", tmp_path / "dataset.jsonl"
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": SERVERS}))
    made = ("run_adapter.py", "--data_dir", sample, "--dataset_path", dataset, "--limit", 2, "--quiet")
    script("extract_dataset.py", "--data_dir", sample, "--output", dataset, "--quiet")
    assert script(*made, "--output_dir", tmp_path / "tasks").returncode == 0
    far = ("--output_dir", tmp_path / "far", "--closed_book", "--mcp_config", tmp_path / "mcp.json")
    assert script(*made, *far).returncode == 0
    return tmp_path


def test_with_remote_one_job_has_the_code_and_the_other_the_server(remote: Path) -> None:
    shown = plan(remote, "--remote", "far")
    assert shown.returncode == 0, shown.stderr
    clone, far = job(remote / "clone.yaml"), job(remote / "remote.yaml")
    assert (clone.pop("job_name"), clone.pop("datasets")) == ("clone", [{"path": "tasks"}])
    assert (far.pop("job_name"), far.pop("datasets")) == ("remote", [{"path": "far"}])
    assert clone == far
    assert "compare jobs/clone jobs/remote" in shown.stdout


def test_with_remote_tasks_that_differ_in_more_than_the_way_to_the_code_are_refused(remote: Path) -> None:
    swapped = harness(remote, "plan", "far", "--remote", "tasks", "--agent", "a", "--mcp-config", "mcp.json",
                      "--budget-usd", "1")  # fmt: skip
    other_server = remote / "mcp.json"
    other_server.write_text(json.dumps({"mcpServers": {"other": SERVERS["search"]}}))
    served_otherwise = plan(remote, "--remote", "far")
    shutil.rmtree(next((remote / "far").glob("*_*")))
    fewer = plan(remote, "--remote", "far")
    for shown, words in ((swapped, "brings MCP servers"), (served_otherwise, "other servers"), (fewer, "same tasks")):
        assert (shown.returncode, shown.stderr.count("\n")) == (2, 1)
        assert words in shown.stderr
    assert not [*remote.glob("*.yaml")]

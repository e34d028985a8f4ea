"""Whether a snapshot becomes a config beside others, and a matrix goes on only with the files it was begun with."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.models import ClaudeConfigSnapshot, Config
from harness.runner import EvalRunner
from harness.suite.resolve import resolve
from locobench.shared.errors import InputError
from measure.results.files import load_results
from measure.secrets.redaction import REDACTED
from tests.support.fake_claude import FakeClaude, calls
from tests.support.suite import make_suite, matrix

SEARCH = {"search": {"command": "x"}}


def snapshot(path: Path, **fields: Any) -> Path:
    made = ClaudeConfigSnapshot.model_validate({"snapshot_timestamp": 0, **fields})
    path.write_text(made.model_dump_json())
    return path


def config_of(root: Path, name: str, **fields: Any) -> None:
    """A config beside those of the suite that is a snapshot."""
    (root / "configs" / name).mkdir(exist_ok=True)
    snapshot(root / f"{name}.json", **fields)
    (root / "configs" / name / "config.yaml").write_text(f"name: {name}\nsnapshot: ../../{name}.json\n")


def suite(tmp_path: Path) -> Path:
    init = {"mcp_servers": [{"name": "search", "status": "connected"}]}
    return make_suite(tmp_path / "s", tasks=1, configs=1, fake=FakeClaude(patch_init=init))


def test_a_snapshot_is_a_config_beside_others(tmp_path: Path) -> None:
    root = suite(tmp_path)
    config_of(root, "mine", mcp_servers=SEARCH, settings={"env": {"A": "1"}})
    config_of(root, "other", global_claude_md="")
    shown = matrix(root, "-r", "1", "-o", "out.json")
    assert shown.returncode == 0, shown.stderr
    assert [r.config_name for r in load_results(root / "out.json")] == ["c0", "mine", "other"]
    plain, mine, other = calls(root / "bin/claude")
    sources = [call["argv"][call["argv"].index("--setting-sources") + 1] for call in (plain, mine, other)]
    assert sources == ["project", "user,project", "user,project"]
    assert [call["mcp"]["mcpServers"] for call in (plain, mine, other)] == [{}, SEARCH, {}]
    assert mine["env"]["DISABLE_TELEMETRY"] == "1"


def test_a_config_file_names_a_snapshot_relative_to_itself(tmp_path: Path) -> None:
    snapshot(tmp_path / "mine.json", global_claude_md="# Mine")
    (tmp_path / "config.yaml").write_text("name: c\nsnapshot: mine.json\nclaude_md: '# Project'\n")
    config = resolve(EvalRunner.load_config(tmp_path / "config.yaml"))
    assert config.user_configuration is not None
    assert config.user_configuration.global_claude_md == "# Mine"


def test_a_server_without_its_secret_is_refused(tmp_path: Path) -> None:
    path = snapshot(tmp_path / "mine.json", mcp_servers={"search": {"command": "x", "env": {"TOKEN": REDACTED}}})
    with pytest.raises(InputError, match=r"MCP server search lacks a secret .*; put \$\{NAME\} in its place"):
        resolve(Config(name="c", snapshot=path))


@pytest.mark.parametrize("content", ["{", '{"schema_version": 99, "snapshot_timestamp": 0}'])
def test_a_file_that_is_no_snapshot_is_refused_before_the_first_run(tmp_path: Path, content: str) -> None:
    root = suite(tmp_path)
    config_of(root, "mine")
    (root / "mine.json").write_text(content)
    shown = matrix(root, "-r", "1", "-o", "out.json")
    assert (shown.returncode, shown.stderr.count("\n"), calls(root / "bin/claude")) == (2, 1, [])
    assert "mine.json" in shown.stderr


def test_a_snapshot_taken_again_of_the_same_configuration_is_the_same_experiment(tmp_path: Path) -> None:
    first = resolve(Config(name="c", snapshot=snapshot(tmp_path / "1.json", global_claude_md="x")))
    again = snapshot(tmp_path / "2.json", global_claude_md="x", snapshot_timestamp=99, source_machine="m")
    second = resolve(Config(name="c", snapshot=again))
    other = resolve(Config(name="c", snapshot=snapshot(tmp_path / "3.json", global_claude_md="y")))
    assert first.fingerprint == second.fingerprint != other.fingerprint


def write_servers(root: Path, command: str) -> None:
    (root / "mcp.json").write_text(json.dumps({"mcpServers": {"search": {"command": command}}}))


def write_snapshot(root: Path, text: str) -> None:
    config_of(root, "mine", global_claude_md=text)


@pytest.mark.parametrize(
    ("write", "option"),
    [(write_servers, ("--mcp-config", "mcp.json")), (write_snapshot, ())],
    ids=["servers", "snapshot"],
)
def test_runs_with_other_files_for_the_user_are_made_again(
    tmp_path: Path, write: Callable[[Path, str], None], option: tuple[str, ...]
) -> None:
    """With another --mcp-config its finished runs were taken for runs with this one."""
    root = suite(tmp_path)
    write(root, "first")
    assert matrix(root, "-r", "1", "-o", "out.json", *option).returncode == 0
    made = len(calls(root / "bin/claude"))
    write(root, "second")
    shown = matrix(root, "-r", "1", "-o", "out.json", *option, "--resume")
    assert "will run again and be billed again" in shown.stderr
    again = len(calls(root / "bin/claude"))
    assert again > made
    assert matrix(root, "-r", "1", "-o", "out.json", *option, "--resume").returncode == 0
    assert len(calls(root / "bin/claude")) == again

"""Whether a run looks up once what its config names, and everything in it sees the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harness.executor import ClaudeExecutor
from harness.models import Config
from harness.suite.resolve import ResolvedConfig, resolve
from locobench.shared.errors import InputError
from tests.support.fake_claude import FakeClaude, calls
from tests.support.suite import REPOSITORY, environment

COUNT = """
import sys
from collections import Counter
from pathlib import Path
root = Path(sys.argv[1])
opened = Counter()
sys.addaudithook(lambda event, args: opened.update([str(args[0])]) if event == "open" else None)
{run}
print(opened[str(root / "mcp.json")])
"""

SINGLE = """
from harness.executor import ClaudeExecutor
from harness.runner import EvalRunner
runner = EvalRunner(ClaudeExecutor(str(root / "bin/claude")))
result = runner.run_single(runner.load_task(root / "a.task.yaml"), runner.load_config(root / "config.yaml"))
assert result.measured, result.why
"""

COMMAND = """
from harness.cli import cli
names = ("a.task.yaml", "config.yaml", "bin/claude", "out.json")
task, config, claude, out = (str(root / name) for name in names)
try:
    cli([*{arguments}, "--claude", claude, "-o", out, "--quiet"])
except SystemExit as end:
    assert end.code in (0, 1), end.code
"""

RUN = COMMAND.format(arguments='["run", "-t", task, "-c", config]')
MATRIX = COMMAND.format(arguments='["matrix", "-t", task, "-c", config, "-r", "2", "-m", "m1,m2"]')


@pytest.mark.slow
@pytest.mark.parametrize("run", [SINGLE, RUN, MATRIX], ids=["run_single", "run", "matrix"])
def test_the_mcp_file_is_opened_once(tmp_path: Path, run: str) -> None:
    (tmp_path / "mcp.json").write_text('{"mcpServers": {"search": {"command": "x"}}}')
    (tmp_path / "config.yaml").write_text("name: c\nmcp_config: mcp.json\n")
    (tmp_path / "a.task.yaml").write_text("{id: a, category: coding, description: d, prompt: p}\n")
    FakeClaude(patch_init={"mcp_servers": [{"name": "search", "status": "connected"}]}).install(tmp_path / "bin")
    done = subprocess.run(
        [sys.executable, "-c", COUNT.format(run=run), str(tmp_path)],
        cwd=REPOSITORY,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.split()[-1:] == ["1"], done.stderr


def test_a_resolved_config_does_not_follow_later_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    servers = tmp_path / "mcp.json"
    servers.write_text('{"mcpServers": {"first": {}}}')
    monkeypatch.setenv("HOST_VALUE", "first")
    config = resolve(Config(name="c", mcp_config=servers, env={"A": "${HOST_VALUE}"}))
    servers.write_text('{"mcpServers": {"second": {}}}')
    monkeypatch.setenv("HOST_VALUE", "second")
    assert resolve(config) is config
    assert (list(config.servers), config.env) == (["first"], {"A": "first"})


def test_a_token_of_the_host_does_not_change_the_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    def of_host(token: str) -> str:
        monkeypatch.setenv("HOST_TOKEN", token)
        return resolve(Config(name="c", env={"TOKEN": "${HOST_TOKEN}"})).fingerprint

    assert of_host("one") == of_host("two")


def test_the_model_may_be_replaced_in_a_resolved_config() -> None:
    config = resolve(Config(name="c", model="m1"))
    other = config.model_copy(update={"model": "m2"})
    assert isinstance(other, ResolvedConfig)
    assert other.fingerprint == resolve(Config(name="c", model="m2")).fingerprint != config.fingerprint


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"env": {"A": "${NOT_SET_ANYWHERE}"}}, r"config c: env\.A: .* is not set on this host"),
        ({"skills_path": "nowhere"}, r"config c: skills_path nowhere: no such folder"),
        ({"mcp_config": "nowhere.json"}, r"nowhere\.json: mcp_config cannot be read"),
        ({"mcp_config": "deep.json"}, r"deep\.json: mcp_config cannot be read as JSON"),
        ({"mcp_config": {"servers": {}}}, r'config c: mcp_config needs the key "mcpServers"'),
    ],
    ids=["variable", "skills", "file", "deep", "key"],
)
def test_what_is_not_on_this_host_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fields: dict[str, object], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deep.json").write_text("[" * 200_000)
    with pytest.raises(InputError, match=message):
        resolve(Config.model_validate({"name": "c", **fields}))


def test_a_skill_is_known_by_its_folder_and_by_its_front_matter(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/SKILL.md").write_text('---\nname: "written"\n---\n')
    (skill,) = resolve(Config(name="c", skills_path=tmp_path)).skills
    assert skill.names == {"folder", "written"}


@pytest.mark.parametrize(("files", "beside"), [([], ""), (["a.md"], ", only a.md")])
def test_a_folder_without_skills_is_worth_a_warning(tmp_path: Path, files: list[str], beside: str) -> None:
    """It used to be an error, though Claude Code takes such a folder as well."""
    for name in files:
        (tmp_path / name).write_text("---\nname: a\n---\n")
    with pytest.warns(UserWarning, match=f"{tmp_path}: contains no skill{beside};"):
        assert resolve(Config(name="c", skills_path=tmp_path)).skills == ()


def test_servers_are_given_to_the_cli_as_they_were_resolved(tmp_path: Path) -> None:
    servers = tmp_path / "mcp.json"
    servers.write_text('{"mcpServers": {"s": {"command": "x"}}}')
    config = resolve(Config(name="c", mcp_config=servers))
    servers.unlink()
    claude = FakeClaude().install(tmp_path / "bin")
    ClaudeExecutor(str(claude)).run("p", config, tmp_path)
    assert calls(claude)[0]["mcp"] == {"mcpServers": {"s": {"command": "x"}}}

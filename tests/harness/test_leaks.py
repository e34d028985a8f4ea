"""Nothing of this machine gets into results through what an agent makes, and no secret in whatever form."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest

from harness.graders.code_graders import CodeGrader
from harness.isolator import EnvironmentIsolator
from harness.models import ExecutionTrace, FileChange, ToolCall
from harness.sandbox import directory, trees
from harness.sandbox.place import Sandbox
from measure.results.files import load_results_file, without_secrets
from measure.results.harbor import load_jobs
from measure.secrets.redaction import REDACTED, Redactor
from tests.harness.test_models import result
from tests.harness.test_paid_work import agent
from tests.measure.test_harbor import write_trial
from tests.support.fake_claude import FakeClaude
from tests.support.ordinary import NEEDS_MODES, ordinary
from tests.support.suite import environment, harness, make_suite, matrix

SECRET = "the-text-of-another-folder"
KEY = 'live_k3y/with+odd=chars&"q"'


def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "answer.txt").write_text(f"right {SECRET}")
    folder.chmod(0o500)
    return folder


@pytest.mark.slow
def test_a_project_that_became_a_link_leads_nowhere(tmp_path: Path) -> None:
    folder = outside(tmp_path)
    root = make_suite(tmp_path / "s", tasks=1, configs=1, fake=FakeClaude())
    agent(root, f"cd ..; mv project p2; ln -s {folder} project")
    shown = matrix(root, "-r", "1", "-o", "out.json")
    assert shown.returncode == 0, shown.stderr
    (found,) = load_results_file(root / "out.json").results
    assert not found.passed
    assert SECRET not in (root / "out.json").read_text() + (root / "out.journal.jsonl").read_text()
    assert folder.stat().st_mode & 0o777 == 0o500


@pytest.mark.parametrize("place", [".", "sub"])
def test_no_function_that_reads_an_agents_tree_follows_a_link(tmp_path: Path, place: str) -> None:
    folder, project = outside(tmp_path), tmp_path / "project"
    if place == ".":
        project.symlink_to(folder)
    else:
        project.mkdir()
        (project / place).symlink_to(folder)
    shown = str(directory.snapshot(project)) + str(directory.diff({}, project))
    assert SECRET not in shown
    trees.make_readable(project)
    assert folder.stat().st_mode & 0o777 == 0o500
    code = CodeGrader(fixture_path=None)
    assert not code.grade_file_contains(project, f"{place}/answer.txt", "right").passed
    for hidden in (None, tmp_path / "hidden"):
        if hidden:
            hidden.mkdir()
        grade = CodeGrader(hidden).grade_command_succeeds(project, f"cat {place}/answer.txt")
        assert SECRET not in grade.full_output or (place == "sub" and hidden is None), grade.full_output


def test_hidden_files_are_not_laid_through_a_link(tmp_path: Path) -> None:
    folder = outside(tmp_path)
    folder.chmod(0o700)
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden/answer.txt").write_text("hidden")
    (tmp_path / "project").symlink_to(folder)
    with pytest.raises(OSError, match="project"):
        trees.copy(tmp_path / "hidden", tmp_path / "project")
    assert SECRET in (folder / "answer.txt").read_text()


ARTIFACTS = ["agent/trajectory.json", "verifier/test-stdout.txt", "artifacts/app/solution.md", "verifier/metrics.json"]


@pytest.mark.parametrize("artifact", ARTIFACTS)
@pytest.mark.parametrize("kind", ["link", "pipe", "sparse", "linked folder"])
def test_what_an_agent_left_in_a_harbor_trial_is_read_as_a_plain_file_or_not_at_all(
    tmp_path: Path, artifact: str, kind: str
) -> None:
    path = write_trial(tmp_path / "jobs") / artifact
    path.parent.mkdir(parents=True, exist_ok=True)
    secret = tmp_path / "elsewhere" / path.name
    secret.parent.mkdir()
    secret.write_text(json.dumps({"steps": [{"source": "agent", "message": SECRET}], "components": {SECRET: 1.0}}))
    if kind == "link":
        path.symlink_to(secret)
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "sparse":
        with path.open("wb") as file:
            file.truncate(8_000_000_000)
    else:
        path.parent.rmdir()
        path.parent.symlink_to(secret.parent)
    (found,) = load_jobs(tmp_path / "jobs/with-search")
    text = found.model_dump_json()
    assert SECRET not in text
    assert len(text) < 10_000_000


def test_keys_of_a_cloud_reach_agents_that_are_paid_there_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {
        "AWS_SECRET_ACCESS_KEY": "CLAUDE_CODE_USE_BEDROCK",
        "GOOGLE_APPLICATION_CREDENTIALS": "CLAUDE_CODE_USE_VERTEX",
    }
    for key, switch in keys.items():
        monkeypatch.setenv(key, "/x")
        monkeypatch.delenv(switch, raising=False)
    assert not keys.keys() & Sandbox().agent_variables().keys()
    for key, switch in keys.items():
        monkeypatch.setenv(switch, "0")
        assert key not in Sandbox().agent_variables()
        monkeypatch.setenv(switch, "1")
        assert Sandbox().agent_variables()[key] == "/x"


FORMS = {
    "as it is": KEY,
    "in an address": quote(KEY, safe=""),
    "in JSON": json.dumps(KEY),
    "in JSON in JSON": json.dumps(json.dumps(KEY)),
    "base64": base64.b64encode(KEY.encode()).decode(),
    "base64 behind a user": base64.b64encode(f"me:{KEY}".encode()).decode(),
    "base64 of addresses": base64.urlsafe_b64encode(f"a{KEY}".encode()).decode(),
    "HTML": KEY.replace("&", "&amp;").replace('"', "&quot;"),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_value_of_the_environment_is_known(form: str) -> None:
    clean = Redactor({"MY_API_KEY": KEY})(f"found {FORMS[form]} there")
    assert REDACTED in clean
    core = FORMS[form][6:-6]
    assert not any(core[i : i + 8] in clean for i in range(len(core) - 7)), clean


@pytest.mark.parametrize(
    "proxy", ["http://me:hunter2x@host:3128", "me:hunter2x@host:3128", "http://me:hunt%65r2x@host"]
)
def test_the_password_of_a_proxy_is_known(proxy: str) -> None:
    redactor = Redactor({"HTTPS_PROXY": proxy})
    assert "hunter2x" not in redactor("it is hunter2x") + redactor(proxy)


def test_names_hold_no_secret_either() -> None:
    change = FileChange(path=f"{quote(KEY, safe='')}.txt", action="created")
    trace = ExecutionTrace(file_changes=[change], tool_calls=[ToolCall(name="Write", input={KEY: 1})])
    text = without_secrets(result(trace=trace), Redactor({"MY_API_KEY": KEY})).model_dump_json()
    assert quote(KEY, safe="") not in text
    assert json.dumps(KEY)[1:-1] not in text


def test_the_environments_addresses_are_shown_without_their_passwords(tmp_path: Path) -> None:
    shown = harness(tmp_path, "env-status", ANTHROPIC_BASE_URL="https://me:pa55w0rd-x@host/v1")
    assert "pa55w0rd-x" not in shown.stdout
    assert "@host/v1" in shown.stdout


@pytest.mark.slow
def test_warnings_are_printed(tmp_path: Path) -> None:
    """By a process of its own: a library that swallows them does so once it is imported."""
    (tmp_path / "skills").mkdir()
    (tmp_path / "c.yaml").write_text("name: c\nskills_path: skills\n")
    command = [sys.executable, "-m", "harness", "validate", "-c", "c.yaml"]
    shown = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert shown.stderr.startswith("warning: ")
    assert "skills" in shown.stderr


@NEEDS_MODES
@pytest.mark.slow
def test_a_home_that_cannot_be_read_ends_no_command(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".env").write_text("ANTHROPIC_BASE_URL=http://wrong\n")
    for mode, place in ((0o000, home), (0o000, home / ".env")):
        before = place.stat().st_mode
        place.chmod(mode)
        command = [*ordinary(), sys.executable, "-m", "harness", "env-status"]
        shown = subprocess.run(command, cwd=tmp_path, env=environment(HOME=str(home)), capture_output=True, text=True)
        place.chmod(before)
        assert "Permission denied" not in shown.stderr
        assert "env file: none" in shown.stdout, shown.stderr


def test_the_log_of_a_run_is_the_only_file_of_ours_that_its_container_is_given(tmp_path: Path) -> None:
    with EnvironmentIsolator(tmp_path).create_environment() as env:
        ours = {path.name for path in env.temp_root.iterdir() if path.is_file()}
        log = Path(env.variables["HARNESS_INSTRUCTIONS_LOG"])
        assert not ours
        assert log.parent.parent == env.temp_root
        assert not list(log.parent.iterdir())

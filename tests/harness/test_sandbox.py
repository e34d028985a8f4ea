"""What --sandbox docker says and refuses where no engine answers; tests/e2e/test_sandbox.py has one."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from harness.executor import ClaudeExecutor
from harness.models import Config, Task
from harness.runner.plan import plan
from harness.sandbox.docker_sandbox import DockerSandbox
from locobench.shared.errors import InputError
from tests.support.fake_claude import calls
from tests.support.suite import harness, make_suite, matrix

NO_ENGINE = {"DOCKER_HOST": "unix:///nowhere/docker.sock"}
DOCKER = ["--sandbox", "docker"]


def test_no_engine_is_one_line_before_anything_is_paid(tmp_path: Path) -> None:
    root = make_suite(tmp_path / "s")
    one = ["-t", "tasks/t0.task.yaml", "-c", "configs/c0/config.yaml"]
    for shown in (matrix(root, *DOCKER, **NO_ENGINE), harness(root, "run", *one, *DOCKER, **NO_ENGINE)):
        assert (shown.returncode, len(shown.stderr.splitlines())) == (2, 1)
        assert "no Docker engine answers" in shown.stderr
    assert not calls(root / "bin/claude")


NOWHERE = '{"Name": "there", "Metadata": {}, "Endpoints": {"docker": {"Host": "unix:///nowhere/docker.sock"}}}'


def test_a_context_without_an_engine_is_one_line(tmp_path: Path) -> None:
    folder = tmp_path / "docker/contexts/meta" / hashlib.sha256(b"there").hexdigest()
    folder.mkdir(parents=True)
    (folder / "meta.json").write_text(NOWHERE)
    (tmp_path / "docker/config.json").write_text(json.dumps({"currentContext": "there"}))
    shown = matrix(make_suite(tmp_path / "s"), *DOCKER, DOCKER_CONFIG=str(tmp_path / "docker"), DOCKER_HOST="")
    assert (shown.returncode, len(shown.stderr.splitlines())) == (2, 1)
    assert "no Docker engine answers (nothing listens on its socket" in shown.stderr


def test_a_dry_run_asks_no_engine(tmp_path: Path) -> None:
    shown = matrix(make_suite(tmp_path / "s"), *DOCKER, "--dry-run", **NO_ENGINE)
    assert shown.returncode == 0, shown.stderr


def test_an_image_without_the_sandbox_is_refused(tmp_path: Path) -> None:
    shown = matrix(make_suite(tmp_path / "s"), "--sandbox-image", "x")
    assert shown.returncode == 2
    assert "--sandbox docker" in shown.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ANTHROPIC_BASE_URL", "http://127.0.0.1:8080"),
        ("ANTHROPIC_BASE_URL", "https://localhost/v1"),
        ("HTTPS_PROXY", "127.0.0.1:3128"),
        ("https_proxy", "http://[::1]:3128"),
    ],
)
def test_an_address_that_means_the_container_itself_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match=name):
        DockerSandbox("x").prepare("claude")


def test_nothing_of_this_machine_but_certificates_and_language_goes_in(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    certificate = tmp_path / "ca.crt"
    certificate.touch()
    for name, value in {
        "ANTHROPIC_API_KEY": "sk-ant-x",
        "HOME": "/home/me",
        "PATH": "/home/me/bin",
        "SSL_CERT_DIR": str(tmp_path),
        "SSL_CERT_FILE": str(certificate),
        "LANG": "C.UTF-8",
        "SECRET": "x",
    }.items():
        monkeypatch.setenv(name, value)
    given = DockerSandbox("x").agent_variables()
    assert given["ANTHROPIC_API_KEY"] == "sk-ant-x"
    assert (given["SSL_CERT_FILE"], given["LANG"]) == (str(certificate), "C.UTF-8")
    assert not {"HOME", "PATH", "SSL_CERT_DIR", "SECRET"} & given.keys()
    assert "ANTHROPIC_API_KEY" not in DockerSandbox("x").tool_variables()


def test_runs_in_containers_do_not_stand_for_runs_on_this_machine() -> None:
    task = Task.model_validate({"id": "t", "category": "coding", "description": "d", "prompt": "p"})
    agents = [ClaudeExecutor(), *(ClaudeExecutor(sandbox=DockerSandbox(image)) for image in ("a", "b"))]
    hashes = {plan([task], [Config(name="c")], None, 1, agent)[0].fingerprints.config for agent in agents}
    assert len(hashes) == 3

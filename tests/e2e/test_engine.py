"""Containers of the real engine: output of any kind and size, limits, and an end whatever becomes of the harness."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import docker
import pytest

from harness.models import ErrorKind, Outcome, Resources
from harness.sandbox.docker_sandbox import DockerSandbox, find_engine
from harness.sandbox.place import SandboxError
from harness.sandbox.processes import Command, Limits, ProcessResult, StopCause
from locobench.containers.engine import GRACE_SECONDS, LABEL
from measure.results.files import load_results
from tests.e2e.proxy import FragileSocket
from tests.support.suite import REPOSITORY, harness

pytestmark = pytest.mark.e2e

Run = Callable[..., ProcessResult]


@pytest.fixture(scope="module")
def sandbox() -> DockerSandbox:
    """A sandbox of the image that run.sh builds."""
    made = DockerSandbox()
    made.prepare("bash")
    return made


@pytest.fixture
def run(sandbox: DockerSandbox, tmp_path: Path) -> Run:
    def run(script: str, stdin: bytes = b"", wall: float = 60, **resources: int) -> ProcessResult:
        command = Command(["bash", "-c", script], tmp_path, {"LANG": "C.UTF-8"}, Limits(wall), stdin)
        return sandbox.within(Resources(**resources)).run(command)

    return run


def test_streams_come_apart_and_every_byte_and_the_exit_code_arrive(run: Run) -> None:
    every = bytes(range(256)) * 1000
    finished = run("tee /dev/stderr; exit 41", every)
    assert (finished.returncode, finished.stdout, finished.stderr) == (41, every, every)


def test_of_a_flood_the_start_and_the_end_are_kept(run: Run) -> None:
    finished = run("echo first; head -c 100000000 /dev/zero; head -c 100000000 /dev/zero >&2; echo last")
    assert finished.returncode == 0
    assert finished.stdout.startswith(b"first\n\0")
    assert finished.stdout.endswith(b"\0last\n")
    assert len(finished.stdout) + len(finished.stderr) < 3_000_000


@pytest.mark.parametrize(
    ("script", "cause"), [("exit 3", StopCause.EXITED), ("exec tail -f /dev/null", StopCause.TIMEOUT)]
)
def test_a_command_that_does_not_read_its_input_ends_as_any_other(run: Run, script: str, cause: StopCause) -> None:
    finished = run(script, b"x" * 20_000_000, wall=3)
    assert finished.cause is cause
    assert (finished.duration_seconds >= 3) == (cause is StopCause.TIMEOUT)


def test_a_command_gets_the_end_of_its_input(run: Run) -> None:
    assert run("wc -c", b"x" * 20_000_000).stdout == b"20000000\n"
    assert run("wc -c").stdout == b"0\n"


def test_a_flood_without_end_is_ended_in_time(run: Run) -> None:
    assert run("cat /dev/zero", wall=2).cause is StopCause.TIMEOUT


@pytest.mark.parametrize("folder", [".", "/tmp"])
def test_too_many_files_end_the_container(run: Run, folder: str) -> None:
    write = f"for i in {{1..2000}}; do head -c 10M /dev/zero > {folder}/big$i || exit; sleep .01; done"
    finished = run(write, storage_mb=300)
    assert finished.cause is StopCause.STORAGE


def test_one_file_cannot_be_larger_than_the_storage(run: Run, tmp_path: Path) -> None:
    run("head -c 300M /dev/zero > big", storage_mb=200)
    assert (tmp_path / "big").stat().st_size == 200 << 20


def test_files_that_are_hidden_count_as_too_many(run: Run) -> None:
    hide = "mkdir d; for i in {1..60}; do head -c 10M /dev/zero > d/$i; done; chmod 000 d; sleep 30"
    assert run(hide, storage_mb=300).cause is StopCause.STORAGE


def test_memory_and_processes_have_limits(run: Run) -> None:
    assert run("exec head -c 500M /dev/zero | tail", memory_mb=64).returncode != 0
    assert run("for i in {1..60}; do sleep 5 & done 2>&1; wait", processes=40).stdout.count(b"fork") > 0


ALONE = """
import sys
from pathlib import Path
from harness.sandbox.processes import Command, Limits
from harness.sandbox.docker_sandbox import DockerSandbox, find_engine
sandbox = DockerSandbox()
sandbox.prepare("bash")
engine = find_engine()
print(engine._reaper.pid, engine._label, flush=True)
hold = "import ctypes, time; ctypes.CDLL(None).ptrace(16, 1, 0, 0); open(chr(120), chr(119)); time.sleep(1000)"
command = f"setsid -f sleep 1000; kill -STOP 1; kill -9 1; trap '' TERM; python3 -c '{hold}'; sleep 1000"
sandbox.run(Command(["bash", "-c", command], Path(sys.argv[1]), {}, Limits(3)))
"""
"""Runs a command that tries to hold up the container's first process, as a debugger does, and then writes `x`."""


def test_a_container_ends_by_itself_when_harness_and_reaper_were_killed(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", ALONE, tmp_path], cwd=REPOSITORY, stdout=subprocess.PIPE)
    assert process.stdout is not None
    reaper, label = process.stdout.readline().decode().split()
    client = docker.from_env()

    def running() -> int:
        return len(client.containers.list(filters={"label": label}, ignore_removed=True))

    while not (tmp_path / "x").exists():
        assert process.poll() is None
        time.sleep(0.1)
    for pid in (process.pid, int(reaper)):
        os.kill(pid, signal.SIGKILL)
    process.wait()
    until = time.monotonic() + 3 + 5 + GRACE_SECONDS + 10
    while running() and time.monotonic() < until:
        time.sleep(0.2)
    left = client.containers.list(all=True, filters={"label": label}, ignore_removed=True)
    states = [container.status for container in left]
    for container in left:
        container.remove(force=True)
    assert states == ["exited"]


def test_the_engine_of_the_users_context_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    environment = {**os.environ, "DOCKER_CONFIG": str(tmp_path), "DOCKER_HOST": ""}
    real = docker.from_env().api.base_url.replace("http+docker://localhost", "unix:///var/run/docker.sock")
    link = tmp_path / "the.sock"
    link.symlink_to(os.environ.get("DOCKER_HOST", real).removeprefix("unix://"))
    for name, host in {"here": f"unix://{link}", "nowhere": "unix:///nowhere/docker.sock"}.items():
        create = ["docker", "context", "create", name, "--docker", f"host={host}"]
        subprocess.run(create, env=environment, check=True, capture_output=True)
    subprocess.run(["docker", "context", "use", "here"], env=environment, check=True, capture_output=True)
    ask = [sys.executable, "-c", "from locobench.containers.engine import Engine; print(Engine()._client.api.base_url)"]

    def asked(**more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(ask, env={**environment, **more}, cwd=REPOSITORY, capture_output=True, text=True)

    assert asked().returncode == 0
    assert "no Docker engine answers" in asked(DOCKER_CONTEXT="nowhere").stderr
    link.unlink()
    assert "no Docker engine answers" in asked().stderr


def test_a_socket_that_is_not_for_this_user_is_named(tmp_path: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can become another user")
    script = (
        "import os\nfrom locobench.containers.engine import Engine, EngineError\nos.setgroups([])\n"
        "os.setresgid(65534, 65534, 65534)\nos.setresuid(65534, 65534, 65534)\n"
        "try: Engine()\nexcept EngineError as error: print(error)"
    )
    shown = subprocess.run([sys.executable, "-c", script], cwd=REPOSITORY, capture_output=True, text=True)
    assert "permission denied on its socket" in shown.stdout, shown.stderr


def test_nothing_is_left_of_all_that(sandbox: DockerSandbox, run: Run) -> None:
    before = len([*Path("/proc/self/fd").iterdir()])
    for _ in range(5):
        assert run("true").returncode == 0
    assert len([*Path("/proc/self/fd").iterdir()]) <= before + 1
    label = find_engine()._label
    assert docker.from_env().containers.list(all=True, filters={"label": label}, ignore_removed=True) == []
    assert label.startswith(LABEL)


def test_an_engine_that_goes_away_during_a_run_is_one_line(
    sandbox: DockerSandbox, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    real = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock").removeprefix("unix://")
    proxy = FragileSocket(tmp_path / "docker.sock", real, last_request=b"never")
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path / 'docker.sock'}")
    find_engine.cache_clear()
    threading.Timer(3, proxy.die).start()
    try:
        with pytest.raises(SandboxError, match="the Docker engine stopped answering"):
            run("sleep 100")
        (left,) = docker.DockerClient(f"unix://{real}").containers.list(filters={"label": find_engine()._label})
        left.remove(force=True)
    finally:
        find_engine.cache_clear()


def test_a_task_names_the_limits_of_its_agent_and_of_its_checks(tmp_path: Path) -> None:
    wasteful = "for i in {1..200}; do head -c 10M /dev/zero > big$i; sleep .02; done"
    for name, prompt, check in (("agent", wasteful, "true"), ("check", "true", wasteful)):
        (tmp_path / f"{name}.task.yaml").write_text(
            f"id: {name}\ncategory: coding\ndescription: d\nprompt: {json.dumps(prompt)}\n"
            "resources: {storage_mb: 300}\nassertions:\n"
            f"  - {{type: code, check: command_succeeds, command: {json.dumps(check)}}}\n"
        )
    (tmp_path / "config.yaml").write_text("name: c\n")
    arguments = ["-t", "*.task.yaml", "-c", "config.yaml", "-r", "1", "-o", "out.json", "--sandbox", "docker"]
    shown = harness(tmp_path, "matrix", *arguments, "--executor", "command", "--command", "bash")
    assert shown.returncode == 0, shown.stderr
    results = {result.task_id: result for result in load_results(tmp_path / "out.json")}
    assert (results["agent"].outcome, results["agent"].trace.error_kind) == (Outcome.AGENT_ERROR, ErrorKind.STORAGE)
    (grade,) = results["check"].grades
    assert not grade.passed
    assert "storage_mb" in grade.details

"""The agent was root in the container: whatever it planted, test.sh writes the true reward or 0, soon."""

from __future__ import annotations

import base64
import io
import json
import subprocess
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path

import docker
import pytest
from docker.models.containers import Container

from tests.e2e.conftest import REPOSITORY, script, task_folders
from tests.e2e.test_harbor import run_all

pytestmark = pytest.mark.e2e

REWARD = """echo '{"reward": 1.0}' > /logs/verifier/reward.json"""
SCRIPT = f"#!/bin/sh\n{REWARD}\n"
HOOK = """import os
open("/logs/verifier/reward.json", "w").write('{"reward": 1.0}')
os._exit(0)
"""


def write(text: str, *places: str) -> str:
    """Return the shell command that writes `text` to files, making their folders."""
    code = base64.b64encode(text.encode()).decode()
    return (
        f"for f in {' '.join(places)}; do mkdir -p $(dirname $f) && echo {code} | base64 -d > $f && chmod +x $f; done"
    )


def modules(folder: str) -> str:
    return " ".join(f"{folder}/{name}.py" for name in ("json", "re", "os", "sys", "signal", "stat"))


# Writes a module's compiled file with the time and size of its source, which Python takes for up to date.
COMPILER = f"""import importlib.util, json, marshal, os, struct
source = os.stat(json.__file__)
place = importlib.util.cache_from_source(json.__file__)
os.makedirs(os.path.dirname(place), exist_ok=True)
with open(place, "wb") as stream:
    stream.write(importlib.util.MAGIC_NUMBER + struct.pack("<III", 0, int(source.st_mtime), source.st_size))
    marshal.dump(compile({HOOK!r}, "json", "exec"), stream)
"""
LIBRARY = "$(ls -d /usr/lib/python3.[0-9]*)"
# What a root agent may have done, as shell.
ZERO_WITHOUT_ANSWER = {
    "nothing": "true",
    "reward planted": f"{REWARD}; echo 1 > /logs/verifier/reward.txt",
    "reward as a link": "echo '{\"reward\": 1.0}' > /tmp/r; ln -s /tmp/r /logs/verifier/reward.json",
    "folder in the reward's place": "cd /logs/verifier; mkdir -p reward.json/x reward.json.part metrics.json",
    "python3 on PATH": write(SCRIPT, "/usr/local/bin/python3"),
    "python3 replaced": f"rm /usr/bin/python3; {write(SCRIPT, '/usr/bin/python3')}",
    "python3 led elsewhere": f"{write(SCRIPT, '/opt/python3.11')}; ln -sf /opt/python3.11 /usr/bin/python3",
    "interpreter overwritten": f"real=$(readlink -f /usr/bin/python3); rm $real; {write(SCRIPT, '$real')}",
    "python3 removed": "rm -f /usr/bin/python3*",
    "library overwritten": write(HOOK, f"{LIBRARY}/json/__init__.py"),
    "compiled library overwritten": f"{write(COMPILER, '/tmp/compile.py')}; /usr/bin/python3 /tmp/compile.py",
    "sitecustomize": write(HOOK, "/usr/lib/python3/dist-packages/sitecustomize.py", f"{LIBRARY}/sitecustomize.py"),
    "modules in the working folder": write(HOOK, modules("/app/project"), modules("")),
    "modules beside the verifier": write(HOOK, modules("/tests")),
    "pyvenv.cfg": write("home = /evil\n", "/usr/bin/pyvenv.cfg"),
    "answer is a link to the truth": "ln -s /tests/ground_truth.json /app/solution.md",
    "answer is a pipe": "mkfifo /app/solution.md",
    "answer is a folder": "mkdir /app/solution.md",
    "answer is 2 GB of nothing": "truncate -s 2G /app/solution.md",
    "answer is a device": "mknod /app/solution.md c 1 5",
    "answer is noise": "head -c 5000000 /dev/urandom > /app/solution.md",
    "logs taken away": "chmod 000 /logs/verifier",
    "shell profiles": write(SCRIPT, "/etc/profile", "/root/.bashrc", "/etc/bash.bashrc", "/root/.profile"),
}
# Some of these do not touch what the verifier uses: the oracle's answer must still earn what it is worth.
TRUE_WITH_ANSWER = (
    "nothing", "reward planted", "reward as a link", "folder in the reward's place", "python3 on PATH", "sitecustomize",
    "compiled library overwritten", "modules in the working folder", "pyvenv.cfg", "shell profiles",
)  # fmt: skip


@pytest.fixture(scope="module")
def task(tasks: Path) -> Path:
    return next(path for path in task_folders(tasks) if path.name.startswith("python_"))


@pytest.fixture(scope="module")
def image(task: Path) -> str:
    # By the command, because the SDK speaks to the classic builder only.
    done = subprocess.run(["docker", "build", "-q", task / "environment"], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def container(image: str) -> Iterator[Container]:
    client = docker.from_env()
    container = client.containers.run(
        image,
        ["sh", "-c", "mkdir -p /logs/verifier && chmod 777 /logs/verifier && sleep infinity"],
        detach=True,
        network_mode="none",
        environment={"PYTHONPATH": "/app/project", "PYTHONSTARTUP": "/app/project/os.py"},
    )
    try:
        while container.exec_run(["test", "-d", "/logs/verifier"]).exit_code:
            time.sleep(0.05)
        yield container
    finally:
        container.remove(force=True)


def put(container: Container, folder: Path, name: str) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.add(folder, name)
    container.put_archive("/", buffer.getvalue())


def grade(container: Container, task: Path, hostile: str) -> float:
    """Let the agent do its worst, then run the tests as Harbor does."""
    done = container.exec_run(["bash", "-c", hostile], user="root")
    assert done.exit_code == 0, done.output
    put(container, task / "tests", "tests")
    started = time.monotonic()
    command = "cd /app/project; (/tests/test.sh) > /tmp/test-stdout.txt 2>&1"
    container.exec_run(["bash", "-c", command], user="root")
    assert time.monotonic() - started < 10
    code, output = container.exec_run(["cat", "/logs/verifier/reward.json"], user="root")
    assert code == 0 and isinstance(output, bytes), container.exec_run(["cat", "/tmp/test-stdout.txt"]).output
    return float(json.loads(output)["reward"])


@pytest.mark.parametrize("name", ZERO_WITHOUT_ANSWER)
def test_nothing_that_is_planted_earns_a_reward(container: Container, task: Path, name: str) -> None:
    assert grade(container, task, ZERO_WITHOUT_ANSWER[name]) == 0.0


@pytest.mark.parametrize("name", TRUE_WITH_ANSWER)
def test_a_true_answer_earns_its_reward_all_the_same(container: Container, task: Path, name: str) -> None:
    put(container, task / "solution", "solution")
    hostile = f"bash /solution/solve.sh; rm -r /solution; {ZERO_WITHOUT_ANSWER[name]}"
    assert grade(container, task, hostile) == 1.0


def test_separate_verifier_scores_in_a_container_the_agent_never_saw(
    provided: dict[str, str], tasks: Path, tmp_path: Path
) -> None:
    dataset = tasks.parent / "dataset.jsonl"
    one = next(path.name for path in task_folders(tasks) if path.name.startswith("python_"))
    done = script(
        "run_adapter.py", "--dataset_path", dataset, "--data_dir", REPOSITORY / "data" / "sample", "--task_ids", one,
        "--output_dir", tmp_path / "tasks", "--base_image", provided["BASE_IMAGE"], "--separate_verifier",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    # An oracle that also leaves a program behind, which writes a reward whenever it can.
    solve = tmp_path / "tasks" / one / "solution" / "solve.sh"
    honest = solve.read_text()
    planter = f"(while :; do {REWARD}; sleep 0.1; done) > /dev/null 2>&1 &\n"
    solve.write_text(honest + planter)
    for agent, expected in (("oracle", 1.0), ("nop", 0.0)):
        (trial,) = run_all(provided, tmp_path / "tasks", agent, tmp_path / "jobs").values()
        assert trial["exception_info"] is None and trial["verifier_result"]["rewards"] == {"reward": expected}
    solve.write_text("#!/bin/bash\n" + planter)
    (trial,) = run_all(provided, tmp_path / "tasks", "oracle", tmp_path / "planted").values()
    assert trial["verifier_result"]["rewards"] == {"reward": 0.0}

"""Images of the languages go through a real registry and come back; skipped where none can be had."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.e2e.conftest import REPOSITORY, script

pytestmark = pytest.mark.e2e

TASKS = (
    "javascript_api_gateway_hard_027_bug_investigation_expert_01",
    "python_api_quota_medium_021_architectural_understanding_hard_01",
)


def registry_program(folder: Path) -> str:
    """Return Debian's docker-registry: the installed one, or out of its package, which is not installed."""
    if found := shutil.which("docker-registry"):
        return found
    folder.mkdir()
    for command in (["apt-get", "download", "docker-registry"], ["sh", "-c", "dpkg -x docker-registry*.deb ."]):
        try:
            subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=60)
        except (OSError, subprocess.SubprocessError):
            pytest.skip("no docker-registry here, and apt-get cannot download it")
    return str(folder / "usr/bin/docker-registry")


@pytest.fixture
def registry(provided: dict[str, str], tmp_path: Path) -> Iterator[str]:
    """The address of an empty registry on the loopback, which Docker trusts without TLS."""
    program = registry_program(tmp_path / "registry")
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (tmp_path / "registry.yml").write_text(
        f"version: 0.1\nstorage: {{filesystem: {{rootdirectory: {tmp_path / 'blobs'}}}}}\n"
        f"http: {{addr: '127.0.0.1:{port}'}}\n"
    )
    process = subprocess.Popen([program, "serve", str(tmp_path / "registry.yml")], stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            with closing(socket.socket()) as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"localhost:{port}"
    finally:
        process.terminate()
        process.wait()


def test_tasks_run_on_images_that_were_pushed_and_pulled(
    registry: str, provided: dict[str, str], tmp_path: Path
) -> None:
    sample, dataset, pattern = REPOSITORY / "data/sample", tmp_path / "d.jsonl", f"{registry}/locobench-{{language}}:1"
    assert script("extract_dataset.py", "--data_dir", sample, "--output", dataset).returncode == 0
    chosen = ("--data_dir", sample, "--dataset_path", dataset, "--task_ids", *TASKS)
    base = ("--base_image", provided["BASE_IMAGE"])
    assert script("run_adapter.py", *chosen, *base, "--output_dir", tmp_path / "tasks").returncode == 0
    cloud = tmp_path / "tasks-cloud"
    assert script("run_adapter.py", *chosen, "--language_image", pattern, "--output_dir", cloud).returncode == 0

    page = (REPOSITORY / "docs" / "RUNNING_AT_SCALE.md").read_text()
    (loop,) = (block for block in re.findall(r"```bash\n(.*?)```", page, re.DOTALL) if "--target language" in block)
    environment = {**os.environ, "REGISTRY": registry}
    images = [pattern.format(language=language) for language in ("javascript", "python")]
    try:
        pushed = subprocess.run(["bash", "-c", loop], cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert pushed.returncode == 0, pushed.stderr
        subprocess.run(["docker", "image", "rm", *images], check=True, capture_output=True)
        done = script("smoke_test.py", cloud, "--quiet")
        assert done.returncode == 0, done.stderr
    finally:
        subprocess.run(["docker", "image", "rm", *images], check=False, capture_output=True)

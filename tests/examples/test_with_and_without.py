"""docs/WITH_AND_WITHOUT.md and its one command, without Docker: figures, steps, and what is left after a bad end."""

from __future__ import annotations

import json
import os
import re
import signal
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from locobench.harbor.task import task_folders
from tests.conftest import REPOSITORY, SAMPLE, Script, default_signals
from tests.examples.test_code_search import serve
from tests.support.in_process import run_in_process
from tools.grep_answers import reward

EXAMPLE = REPOSITORY / "examples/code-search"
PAGE = (REPOSITORY / "docs/WITH_AND_WITHOUT.md").read_text(encoding="utf-8")

# In place of the real ones: any port for the server, and a job that does what the test wants.
PYTHON = '#!/bin/sh\ncase $1 in *server.py) set -- "$@" --port 0; esac\nexec {0} "$@"\n'
HARBOR = "#!/bin/sh\necho $$ > harbor.pid\n{0}\n"


def unfolded(text: str) -> str:
    return re.sub(r" \\\n +", " ", text)


def test_the_steps_on_the_page_are_those_of_the_script() -> None:
    script = unfolded((EXAMPLE / "run.sh").read_text())
    walk = PAGE.partition("\n## Does the server replace a clone?\n")[0]
    blocks = re.findall(r"^```bash\n(.*?)^```", walk, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in unfolded(block).splitlines()]
    assert len(lines) == 11
    for line in lines[1:]:
        assert line.removeprefix("gateway=$(").removesuffix(" &").removesuffix(")") in script


@pytest.mark.slow
def test_the_page_shows_what_the_agent_earns_today(tmp_path: Path, script: Script) -> None:
    dataset, selected, tasks, repos = (tmp_path / name for name in ("d.jsonl", "s.json", "tasks", "repos"))
    script("extract_dataset.py", "--data_dir", SAMPLE, "--output", dataset)
    wanted = ("--min_context_length", 5000, "--top_n", 8)
    script("select_tasks.py", "--dataset_path", dataset, "--output", selected, *wanted)
    places = ("--data_dir", SAMPLE, "--dataset_path", dataset, "--output_dir", tasks, "--mirror_repos", repos)
    assert script("run_adapter.py", *places, "--selected_tasks", selected).returncode == 0
    server = serve(repos, "--port", "0")
    assert server.stdout is not None
    servers, trajectory, answer = (tmp_path / name for name in ("servers.json", "trajectory.json", "answer.md"))
    servers.write_text(json.dumps([{"name": "code-search", "url": server.stdout.readline().split()[-1]}]))
    rewards = []
    try:
        for task in task_folders(tasks):
            given = (EXAMPLE / "scripted_program.py", servers, task / "instruction.md", trajectory, answer)
            assert run_in_process(given[0], [str(place) for place in given[1:]]).returncode == 0
            rewards.append(reward(task, answer.read_text()))
    finally:
        server.terminate()
        server.communicate(timeout=20)
    (shown,) = re.findall(r"^  score +0\.0 % +(\d+\.\d) %", PAGE, re.MULTILINE)
    assert float(shown) == pytest.approx(100 * statistics.fmean(rewards), abs=1)


def walk(folder: Path, job: str) -> subprocess.Popen[str]:
    """Start the script in a folder that looks like the checkout, with a stand-in for Harbor that runs `job`."""
    for path in REPOSITORY.iterdir():
        if path.name not in ("demo", ".git", ".cache"):
            (folder / path.name).symlink_to(path)
    (folder / "bin").mkdir()
    for name, text in {"python": PYTHON.format(sys.executable), "harbor": HARBOR.format(job), "docker": ""}.items():
        (folder / "bin" / name).write_text(text)
        (folder / "bin" / name).chmod(0o755)
    environment = {**os.environ, "HOST": "127.0.0.1", "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    command = ["examples/code-search/run.sh", "--limit", "1"]
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, preexec_fn=default_signals
    )


def is_over(folder: Path) -> bool:
    """Whether neither the job nor the server runs any more."""
    pid = int((folder / "harbor.pid").read_text())
    url = (folder / "demo/search/server.log").read_text().split()[-1]
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(url, timeout=5)
    return not Path(f"/proc/{pid}").exists()


@pytest.mark.slow
def test_a_job_that_fails_ends_the_walk_and_the_server(tmp_path: Path) -> None:
    walking = walk(tmp_path, "exit 3")
    printed, _ = walking.communicate(timeout=60)
    assert walking.returncode == 3
    assert printed.splitlines()[-1].startswith("code-search: 1 repositories")
    assert is_over(tmp_path)


@pytest.mark.slow
def test_ctrl_c_ends_the_job_and_the_server(tmp_path: Path) -> None:
    walking = walk(tmp_path, "exec sleep 60")
    deadline = time.monotonic() + 60
    while not (tmp_path / "harbor.pid").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    walking.send_signal(signal.SIGINT)
    walking.communicate(timeout=20)
    assert walking.returncode == 130
    assert is_over(tmp_path)

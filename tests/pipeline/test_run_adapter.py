"""run_adapter.py: which tasks are generated, what a rerun does, and what no accident may leave behind."""

from __future__ import annotations

import fcntl
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from locobench.generate.folder import output_folder
from tests.conftest import REPOSITORY, Script, default_signals, shown_on_a_terminal
from tests.support.data_builder import FILES, Data, tree


@pytest.fixture
def three(data: Data, tmp_path: Path, script: Script) -> list[str]:
    """Three tasks of two projects in tmp_path/d.jsonl."""
    data.project()
    data.project(name="c_os_medium_002")
    ids = [data.scenario(), data.scenario(number=2), data.scenario(project="c_os_medium_002")]
    assert script("extract_dataset.py", "--data_dir", data.folder, "--output", tmp_path / "d.jsonl").returncode == 0
    return sorted(ids)


def command(data: Data, tmp_path: Path, *more: object) -> list[object]:
    return [
        "--dataset_path",
        tmp_path / "d.jsonl",
        "--data_dir",
        data.folder,
        "--output_dir",
        tmp_path / "tasks",
        *more,
    ]


def written(tmp_path: Path, folder: str = "tasks") -> list[str]:
    return sorted(path.name for path in (tmp_path / folder).iterdir())


def changed_at(folder: Path) -> int:
    """When something was last put into a folder or taken out of it; 0 where there is none."""
    return folder.stat().st_mtime_ns if folder.exists() else 0


def test_a_data_folder_without_projects_is_one_line(script: Script, data: Data, tmp_path: Path) -> None:
    for number in range(3):
        data.scenario(project=f"python_api_easy_00{number}")
    assert script("extract_dataset.py", "--data_dir", data.folder, "--output", tmp_path / "d.jsonl").returncode == 0
    options = ("--dataset_path", tmp_path / "d.jsonl", "--output_dir", tmp_path / "tasks")
    shutil.rmtree(data.folder / "generated", ignore_errors=True)
    done = script("run_adapter.py", "--data_dir", data.folder, *options)
    assert done.returncode == 2
    assert done.stderr == (
        f"run_adapter.py: {data.folder}: no generated/ in it; --data_dir names the folder that holds generated/ and"
        " output/\n"
    )


def test_a_terminal_shows_one_line_that_counts_and_needs_no_thread() -> None:
    """A process that forks must have none: the child would wait for ever for a lock that the thread held."""
    program = """
import os, threading
from locobench.shared.terminal import progress
for _ in progress(range(5), 5, "Generating", quiet=False):
    os.write(1, b"threads:%d " % threading.active_count())
"""
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    shown = shown_on_a_terminal([sys.executable, "-c", program], cwd=REPOSITORY, env=environment)
    assert re.findall(rb"threads:(\d+) ", shown) == [b"1"] * 5
    assert b"Generating: 4/5\r" in shown


def test_permissions_of_a_tasks_files_do_not_hang_on_the_umask(
    data: Data, tmp_path: Path, script: Script, three: list[str]
) -> None:
    assert script("run_adapter.py", *command(data, tmp_path), umask=0o077).returncode == 0
    modes = {
        path: (tmp_path / "tasks" / three[0] / path).stat().st_mode & 0o777 for path in ("tests/test.sh", "task.toml")
    }
    assert modes == {"tests/test.sh": 0o755, "task.toml": 0o644}


def test_whole_dataset_without_a_choice(data: Data, tmp_path: Path, script: Script, three: list[str]) -> None:
    done = script("run_adapter.py", *command(data, tmp_path))
    assert (done.returncode, written(tmp_path)) == (0, three)
    assert done.stdout.endswith(f"3 tasks written to {tmp_path / 'tasks'}, 0 unchanged, 0 failed\n")


def test_selection_task_ids_and_limit_choose(data: Data, tmp_path: Path, script: Script, three: list[str]) -> None:
    (tmp_path / "s.json").write_text(json.dumps({"tasks": [{"id": three[2]}, {"id": three[0]}]}))
    script("run_adapter.py", *command(data, tmp_path, "--selected_tasks", tmp_path / "s.json", "--limit", 1))
    assert written(tmp_path) == [three[2]]
    script("run_adapter.py", *command(data, tmp_path, "--task-ids", three[1]))
    assert written(tmp_path) == three[1:]


@pytest.mark.slow
def test_two_runs_give_identical_bytes(data: Data, tmp_path: Path, script: Script, three: list[str]) -> None:
    # One identifier in many spellings: which one the oracle uses must not hang on the order of a set.
    for project in (data.folder / "generated").iterdir():
        spellings = "lookup_price lookupPrice LookupPrice LOOKUP_PRICE lookUp_price"
        (project / "shop" / "src" / "spellings.py").write_text(f"# {spellings}\n")
    trees = []
    for hash_seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        out = tmp_path / hash_seed
        script("extract_dataset.py", "--data_dir", data.folder, "--output", out / "d.jsonl", env=environment)
        script("select_tasks.py", "--dataset_path", out / "d.jsonl", "--output", out / "s.json", env=environment)
        arguments = ["--data_dir", data.folder, "--dataset_path", out / "d.jsonl", "--selected_tasks", out / "s.json"]
        assert script("run_adapter.py", *arguments, "--output_dir", out / "tasks", env=environment).returncode == 0
        trees.append(tree(out))
    assert trees[0] == trees[1]
    assert len(trees[0]) > 3 * len(FILES)


def test_rerun_writes_only_what_changed(data: Data, tmp_path: Path, script: Script, three: list[str]) -> None:
    script("run_adapter.py", *command(data, tmp_path))
    assert "0 tasks written" in (again := script("run_adapter.py", *command(data, tmp_path)).stdout)
    assert "3 unchanged" in again
    project = data.folder / "generated" / "c_os_medium_002" / "shop" / "README.md"
    project.write_text("changed")
    assert "1 tasks written" in (changed := script("run_adapter.py", *command(data, tmp_path)).stdout)
    assert "2 unchanged" in changed
    (task,) = [name for name in three if name.startswith("c_os")]
    assert (tmp_path / "tasks" / task / "environment" / "project" / "README.md").read_text() == "changed"
    assert (
        "2 tasks written"
        in script("run_adapter.py", *command(data, tmp_path, "--base_image", "debian:12", "--limit", 2)).stdout
    )


def test_touching_a_project_changes_nothing(data: Data, tmp_path: Path, script: Script, three: list[str]) -> None:
    script("run_adapter.py", *command(data, tmp_path))
    os.utime(data.folder / "generated" / "c_os_medium_002" / "shop" / "README.md", (1, 1))
    assert "3 unchanged" in script("run_adapter.py", *command(data, tmp_path)).stdout


def edit(path: Path) -> None:
    """Change a byte and leave size and time as they are."""
    before = path.stat()
    path.write_bytes(path.read_bytes()[:-1] + b"#")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize(
    ("path", "spoil"),
    [
        ("tests/verify.py", Path.unlink),
        ("environment/project/README.md", edit),
        ("tests/task_metadata.json", lambda path: path.write_bytes(path.read_bytes() + b" ")),
        ("environment/project/notes.txt", Path.touch),
    ],
)
def test_a_damaged_task_is_written_again(
    data: Data, tmp_path: Path, script: Script, three: list[str], path: str, spoil: Callable[[Path], None]
) -> None:
    script("run_adapter.py", *command(data, tmp_path))
    before = tree(tmp_path / "tasks" / three[0])
    spoil(tmp_path / "tasks" / three[0] / path)
    done = script("run_adapter.py", *command(data, tmp_path))
    assert done.stdout.endswith(f"1 tasks written to {tmp_path / 'tasks'}, 2 unchanged, 0 failed\n")
    assert tree(tmp_path / "tasks" / three[0]) == before


def test_a_file_that_became_a_program_makes_its_tasks_new(
    data: Data, tmp_path: Path, script: Script, three: list[str]
) -> None:
    script("run_adapter.py", *command(data, tmp_path))
    (data.folder / "generated" / "c_os_medium_002" / "shop" / "README.md").chmod(0o755)
    assert "1 tasks written" in script("run_adapter.py", *command(data, tmp_path)).stdout


def test_a_whole_task_stays_with_what_lies_beside_its_files(
    data: Data, tmp_path: Path, script: Script, three: list[str]
) -> None:
    script("run_adapter.py", *command(data, tmp_path))
    notes = tmp_path / "tasks" / three[0] / "notes.txt"
    notes.write_text("mine")
    os.utime(tmp_path / "tasks" / three[1] / "task.toml", (1, 1))
    for _ in range(2):
        assert "3 unchanged" in script("run_adapter.py", *command(data, tmp_path)).stdout
    assert notes.read_text() == "mine"


def test_folder_of_another_origin_is_left_alone(data: Data, tmp_path: Path, script: Script, three: list[str]) -> None:
    mine = tmp_path / "tasks" / three[0] / "precious.txt"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    done = script("run_adapter.py", *command(data, tmp_path, "--quiet"))
    assert (done.returncode, mine.read_text(), written(tmp_path)) == (1, "mine", three)
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"{three[0]}: {mine.parent}: exists and was not written by this program; move it away")


def test_one_bad_task_does_not_stop_the_others(data: Data, tmp_path: Path, script: Script, three: list[str]) -> None:
    shutil.rmtree(data.folder / "generated" / "c_os_medium_002")
    done = script("run_adapter.py", *command(data, tmp_path, "--quiet"))
    (line,) = done.stderr.splitlines()
    assert (done.returncode, len(written(tmp_path))) == (1, 2)
    assert "c_os_medium_002: No such file or directory" in line


def test_missing_context_files_are_counted_in_one_line_for_all_tasks(
    data: Data, tmp_path: Path, script: Script
) -> None:
    data.project()
    data.scenario(context_files=["name", "type", "children", "shop/src/basket.py", "shop/src/orders.py"])
    data.scenario(number=2, context_files=["docs/none.md", "name", "shop/src/basket.py", "shop/src/orders.py"])
    script("extract_dataset.py", "--data_dir", data.folder, "--output", tmp_path / "d.jsonl")
    done = script("run_adapter.py", *command(data, tmp_path))
    assert done.returncode == 0
    (line,) = [line for line in done.stdout.splitlines() if "not scored" in line]
    assert re.fullmatch(r"context files that do not exist are not scored \(tasks: 2\): name, \w+, [\w/.]+, …", line)
    assert "not scored" not in done.stderr
    again = script("run_adapter.py", *command(data, tmp_path, "--quiet"))
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--task_ids", "nobody", "nothing"], "no task with id nobody, nothing"),
        (
            ["--selected_tasks", "none.json"],
            "none.json: cannot be read: No such file or directory; run select_tasks.py",
        ),
        (["--selected_tasks", __file__], "not a selection"),
        (["--dataset_path", "none.jsonl"], "none.jsonl: cannot be read"),
        (["--data_dir", "nowhere"], "no generated/ in it"),
        (["--output_dir", __file__], "must be a writable folder"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(
    data: Data, tmp_path: Path, script: Script, three: list[str], arguments: list[str], words: str
) -> None:
    done = script("run_adapter.py", *command(data, tmp_path, *arguments, "--quiet"), cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("content", ["[", "{}", '{"tasks": 1}', '{"tasks": [1]}'])
def test_a_selection_that_is_none_shows_no_exception_of_python(
    data: Data, tmp_path: Path, script: Script, three: list[str], content: str
) -> None:
    (tmp_path / "s.json").write_text(content)
    done = script("run_adapter.py", *command(data, tmp_path, "--selected_tasks", tmp_path / "s.json"))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "not a selection (" in done.stderr
    assert "Error" not in done.stderr


@pytest.mark.parametrize(
    ("flags", "words"), [(["--limit", 0], "--limit is 0"), (["--selected_tasks", "s.json"], "s.json names none")]
)
def test_nothing_to_generate_is_one_line_and_exit_code_1(
    data: Data, tmp_path: Path, script: Script, three: list[str], flags: list[object], words: str
) -> None:
    (tmp_path / "s.json").write_text('{"tasks": []}')
    done = script("run_adapter.py", *command(data, tmp_path, *flags), cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert words in done.stderr


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"id": "../x"}, "not a plain name"),
        ({"project_id": "../x"}, "not a valid folder name"),
        ({"project_id": ".."}, "not a valid folder name"),
    ],
)
def test_record_that_would_lead_out_of_the_folders_is_one_line(
    data: Data, tmp_path: Path, script: Script, changes: dict[str, Any], words: str
) -> None:
    record = {"id": "x", "task_category": "", "language": "", "difficulty": "", "project_id": "x", **changes}
    (data.folder / "generated").mkdir(parents=True)
    (tmp_path / "d.jsonl").write_text(json.dumps(record) + "\n")
    done = script("run_adapter.py", *command(data, tmp_path, "--quiet"))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f"d.jsonl:1: {words}" in done.stderr


@pytest.mark.parametrize("name", ["extract_dataset.py", "select_tasks.py", "run_adapter.py", "smoke_test.py"])
def test_python_without_the_packages_is_told_how_to_get_them(name: str, data: Data, tmp_path: Path) -> None:
    data.scenario()
    (tmp_path / "task").mkdir()
    (tmp_path / "d.jsonl").touch()
    flags: dict[str, list[object]] = {
        "extract_dataset.py": ["--data_dir", data.folder, "--output", tmp_path / "out"],
        "select_tasks.py": ["--dataset_path", tmp_path / "d.jsonl", "--output", tmp_path / "out"],
        "run_adapter.py": command(data, tmp_path),
        "smoke_test.py": [tmp_path],
    }
    arguments = [sys.executable, "-S", REPOSITORY / name, *flags[name]]
    done = subprocess.run(list(map(str, arguments)), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert done.stderr.startswith(f"{name}: this Python lacks ")
    assert "`make demo`" in done.stderr


def test_second_run_into_the_same_folder_stops_with_a_line(
    data: Data, tmp_path: Path, script: Script, three: list[str]
) -> None:
    (tmp_path / "tasks").mkdir()
    with output_folder(tmp_path / "tasks"):
        done = script("run_adapter.py", *command(data, tmp_path, "--quiet"))
    assert done.returncode == 2
    assert "another run is writing to it" in done.stderr
    assert written(tmp_path) == []


@pytest.mark.slow
def test_killed_runs_leave_no_half_task_and_a_rerun_finishes(data: Data, tmp_path: Path, script: Script) -> None:
    files = {f"src/file_{number}.py": f"value = {number}\n" * 50 for number in range(60)} | FILES
    for number in range(4):
        data.project(files, name=f"go_web_{number}_easy_001")
        for scenario in range(1, 5):
            data.scenario(project=f"go_web_{number}_easy_001", number=scenario)
    script("extract_dataset.py", "--data_dir", data.folder, "--output", tmp_path / "d.jsonl")
    script("run_adapter.py", *command(data, tmp_path))
    undisturbed = tree(tmp_path / "tasks")
    (tmp_path / "tasks").rename(tmp_path / "undisturbed")
    whole = {name: tree(tmp_path / "undisturbed" / name) for name in written(tmp_path, "undisturbed")}

    moments = random.Random(20)
    started = 0
    for attempt in range(2):  # `make trust` kills 40 runs
        if attempt % 2 == 0:
            shutil.rmtree(tmp_path / "tasks", ignore_errors=True)
        for name in written(tmp_path) if attempt % 2 else ():
            (tmp_path / "tasks" / name / "solution/solve.sh").unlink(missing_ok=True)  # so that it is written again
        before = changed_at(tmp_path / "tasks")
        run = subprocess.Popen(
            [sys.executable, REPOSITORY / "run_adapter.py", *map(str, command(data, tmp_path, "--quiet"))],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        # Counted from the first thing that it writes, or all runs on a busy machine end before that.
        while run.poll() is None and changed_at(tmp_path / "tasks") == before:
            time.sleep(0.005)
        time.sleep(moments.uniform(0, 0.4))
        run.send_signal(signal.SIGKILL)
        run.wait()
        if (tmp_path / "tasks").exists():
            for name in written(tmp_path):
                started += 1
                if not name.startswith("."):
                    found = tree(tmp_path / "tasks" / name)
                    assert found == whole[name] or ({**whole[name], **found} == whole[name] and attempt % 2)
    assert started, "every run was killed before it wrote anything"
    # A worker may outlive its parent for the moment that the kernel needs to tell it.
    descriptor = os.open(tmp_path / "tasks", os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    os.close(descriptor)
    assert script("run_adapter.py", *command(data, tmp_path)).returncode == 0
    assert tree(tmp_path / "tasks") == undisturbed


@pytest.mark.slow
def test_interrupt_leaves_whole_tasks_and_says_how_to_go_on(data: Data, tmp_path: Path, script: Script) -> None:
    files = {f"src/file_{number}.py": "x = 1\n" * 50 for number in range(100)} | FILES
    # Many tasks, so that the run is not over before the signal comes.
    for number in range(8):
        data.project(files, name=f"go_web_{number}_easy_001")
        for scenario in range(4):
            data.scenario(project=f"go_web_{number}_easy_001", number=scenario)
    script("extract_dataset.py", "--data_dir", data.folder, "--output", tmp_path / "d.jsonl")
    run = subprocess.Popen(
        [sys.executable, REPOSITORY / "run_adapter.py", *map(str, command(data, tmp_path))],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, preexec_fn=default_signals,
    )  # fmt: skip
    while not (tmp_path / "tasks").exists() or not written(tmp_path):
        time.sleep(0.01)
    os.killpg(run.pid, signal.SIGINT)
    _, errors = run.communicate(timeout=60)
    assert run.returncode == 130
    assert errors.endswith("interrupted; run the same command again to finish\n")
    assert "Traceback" not in errors
    assert not [name for name in written(tmp_path) if name.startswith(".")]


@pytest.mark.parametrize("name", ["extract_dataset.py", "select_tasks.py", "run_adapter.py"])
def test_help_imports_nothing_heavy(name: str) -> None:
    code = (
        "import runpy, sys\nsys.argv = [sys.argv[1], '--help']\n"
        "try: runpy.run_path(sys.argv[0], run_name='__main__')\nexcept SystemExit: pass\n"
        "print(sorted({'pydantic', 'jinja2', 'rich', 'docker', 'adapter'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, name], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith("[]\n")


def test_published_scoring_is_named_in_metadata_key_and_metrics(data: Data, tmp_path: Path, script: Script) -> None:
    data.project()
    scenario = data.scenario()
    script("extract_dataset.py", "--data_dir", data.folder, "--output", tmp_path / "d.jsonl")
    assert script("run_adapter.py", *command(data, tmp_path, "--scoring", "published")).returncode == 0
    task = tmp_path / "tasks" / scenario
    assert tomllib.loads((task / "task.toml").read_text())["metadata"]["scoring"] == "published"
    key = json.loads((task / "tests" / "ground_truth.json").read_text())["key"]
    assert key["scoring"] == "published"
    assert "index" not in key
    (tmp_path / "root" / "app").mkdir(parents=True)
    shutil.copytree(task / "tests", tmp_path / "root" / "tests")
    shutil.copy(task / "solution" / "solution.md", tmp_path / "root" / "app")
    subprocess.run(["bash", task / "tests" / "test.sh", tmp_path / "root"], check=True, capture_output=True)
    metrics = json.loads((tmp_path / "root" / "logs" / "verifier" / "metrics.json").read_text())
    assert metrics["scoring"] == "published"
    assert metrics["reward"] == tomllib.loads((task / "task.toml").read_text())["metadata"]["oracle_reward"]
    assert "1 tasks: 1 ok, 0 not" in script("smoke_test.py", tmp_path / "tasks", "--local").stdout


def test_the_oracle_is_held_to_the_reward_that_task_toml_names(data: Data, tmp_path: Path, script: Script) -> None:
    data.project()
    scenario = data.scenario()
    script("extract_dataset.py", "--data_dir", data.folder, "--output", tmp_path / "d.jsonl")
    script("run_adapter.py", *command(data, tmp_path, "--scoring", "published"))
    solution = tmp_path / "tasks" / scenario / "solution/solution.md"
    solution.write_text(solution.read_text() + "\none word more\n")
    done = script("smoke_test.py", tmp_path / "tasks", "--local", "--quiet")
    assert done.returncode == 1
    assert "oracle: reward 0." in done.stderr


def test_limits_are_flags(data: Data, tmp_path: Path, script: Script, three: list[str]) -> None:
    limits = {"cpus": 4, "memory_mb": 8192, "storage_mb": 20480}
    flags = [word for name, value in limits.items() for word in (f"--{name}", value)]
    assert script("run_adapter.py", *command(data, tmp_path, "--agent-timeout-sec", "90.5", *flags)).returncode == 0
    config = tomllib.loads((tmp_path / "tasks" / three[0] / "task.toml").read_text())
    assert config["agent"] == {"timeout_sec": 90.5}
    assert {name: config["environment"][name] for name in limits} == limits


@pytest.mark.parametrize(("flag", "value"), [("cpus", 0), ("memory_mb", -1), ("storage_mb", 0)])
def test_a_limit_that_is_not_above_0_is_one_line(script: Script, flag: str, value: object) -> None:
    done = script("run_adapter.py", f"--{flag}", value)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert f"Invalid value for '--{flag}': {value}" in done.stderr


def test_no_text_can_leave_its_string_in_task_toml(data: Data, tmp_path: Path, script: Script) -> None:
    title = 'Quotes " \'\'\' """ {{ name }} \\ \u2028 and\ncpus = 99 # é 🙂'
    data.project()
    scenario = data.scenario(title=title)
    script("extract_dataset.py", "--data_dir", data.folder, "--output", tmp_path / "d.jsonl")
    assert script("run_adapter.py", *command(data, tmp_path)).returncode == 0
    config = tomllib.loads((tmp_path / "tasks" / scenario / "task.toml").read_text())
    assert config["task"]["description"] == config["metadata"]["title"] == title
    assert config["environment"]["cpus"] == 2


def test_mcp_servers_are_the_only_difference_between_two_sets_of_tasks(
    data: Data, tmp_path: Path, script: Script, three: list[str]
) -> None:
    servers = {
        "search": {"command": "search-mcp", "args": ["--stdio"]},
        "index": {"type": "http", "url": "http://index:80/mcp"},
        "token": {"url": "http://index:80/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
    }
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    script("run_adapter.py", *command(data, tmp_path))
    arguments = [*command(data, tmp_path)[:-1], tmp_path / "with", "--mcp_config", tmp_path / ".mcp.json"]
    assert script("run_adapter.py", *arguments).returncode == 0
    without, given = tree(tmp_path / "tasks" / three[0]), tree(tmp_path / "with" / three[0])
    changed = {path for path in given if given[path] != without[path]}
    assert changed == {"task.toml"}
    assert tomllib.loads(given["task.toml"].decode())["environment"]["mcp_servers"] == [
        {"name": "index", "transport": "streamable-http", "args": [], "url": "http://index:80/mcp"},
        {"name": "search", "transport": "stdio", "command": "search-mcp", "args": ["--stdio"]},
        {
            "name": "token",
            "transport": "streamable-http",
            "args": [],
            "url": "http://index:80/mcp",
            "headers": {"Authorization": "Bearer ${TOKEN}"},
        },
    ]


def test_one_command_writes_the_tasks_of_both_arms(
    data: Data, tmp_path: Path, script: Script, three: list[str]
) -> None:
    (tmp_path / ".mcp.json").write_text('{"mcpServers": {"s": {"command": "x"}}}')
    servers = ["--mcp_config", tmp_path / ".mcp.json"]
    done = script("run_adapter.py", *command(data, tmp_path, *servers, "--remote_output_dir", tmp_path / "remote"))
    assert done.returncode == 0, done.stderr
    assert f"3 tasks written to {tmp_path / 'tasks'}, 0 unchanged, 0 failed\n" in done.stdout
    assert f"3 tasks written to {tmp_path / 'remote'}, 0 unchanged, 0 failed\n" in done.stdout
    for folder, flags in (("tasks", []), ("remote", ["--closed_book", *servers])):
        apart = [*command(data, tmp_path)[:-1], tmp_path / "apart" / folder, *flags]
        assert script("run_adapter.py", *apart).returncode == 0
        assert tree(tmp_path / "apart" / folder) == tree(tmp_path / folder)


def test_dataset_that_cannot_be_read_twice_is_one_line(
    data: Data, tmp_path: Path, script: Script, three: list[str]
) -> None:
    dataset = (tmp_path / "d.jsonl").read_text()
    done = script("run_adapter.py", *command(data, tmp_path, "--dataset_path", "/dev/stdin", "--quiet"), input=dataset)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "/dev/stdin: a pipe" in done.stderr


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--remote_output_dir", "remote"], "needs --mcp_config"),
        (["--remote_output_dir", "remote", "--mcp_config", "m.json", "--closed_book"], "leave out --closed_book"),
        (["--remote_output_dir", "tasks", "--mcp_config", "m.json"], "must name another folder than --output_dir"),
    ],
)
def test_arms_that_would_not_differ_are_refused(
    data: Data, tmp_path: Path, script: Script, three: list[str], more: list[str], words: str
) -> None:
    (tmp_path / "m.json").write_text('{"mcpServers": {"s": {"command": "x"}}}')
    done = script("run_adapter.py", *command(data, tmp_path, *more), cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n"), done.stdout) == (2, 1, "")
    assert words in done.stderr


def test_content_fingerprint_tells_another_way_to_the_code_from_other_content(
    data: Data, tmp_path: Path, script: Script, three: list[str]
) -> None:
    (tmp_path / ".mcp.json").write_text('{"mcpServers": {"s": {"command": "x"}}}')
    seen = {}
    sets: dict[str, list[object]] = {
        "plain": [],
        "served": ["--mcp_config", tmp_path / ".mcp.json"],
        "far": ["--closed_book", "--mcp_config", tmp_path / ".mcp.json"],
        "hinted": ["--include_hints"],
    }
    for name, flags in sets.items():
        arguments = [*command(data, tmp_path)[:-1], tmp_path / name, *flags]
        assert script("run_adapter.py", *arguments).returncode == 0
        config = tomllib.loads((tmp_path / name / three[0] / "task.toml").read_text())
        seen[name] = config["metadata"]["content_fingerprint"]
    assert seen["plain"] == seen["served"] == seen["far"] != seen["hinted"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"mcpServers": {"s": {"command": "x", "env": {"TOKEN": "secret"}}}}', "env: Extra inputs are not permitted"),
        ('{"mcpServers": {"s": {"type": "http"}}}', "s: a streamable-http server needs a url"),
        ("{}", "not a .mcp.json (mcpServers: Field required)"),
        ("[", "not a .mcp.json (Invalid JSON: EOF while parsing a list at line 1 column 1)"),
        ('{"mcpServers": [{"env": {"TOKEN": "secret"}}]}', "not a .mcp.json (mcpServers: Input should be an object)"),
        ("[1]", "not a .mcp.json (Input should be an object)"),
        ("\udcff", "not a .mcp.json (Invalid JSON: expected value at line 1 column 1)"),
    ],
)
def test_mcp_config_that_a_task_cannot_carry_is_one_line(
    data: Data, tmp_path: Path, script: Script, three: list[str], text: str, words: str
) -> None:
    (tmp_path / ".mcp.json").write_text(text, errors="surrogateescape")
    done = script("run_adapter.py", *command(data, tmp_path, "--mcp_config", tmp_path / ".mcp.json", "--quiet"))
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    assert "secret" not in done.stderr

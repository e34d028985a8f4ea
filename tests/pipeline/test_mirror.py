"""--mirror_repos: the projects as git repositories."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.conftest import Script
from tests.support.data_builder import FILES, PROJECT, Data, tree


def mirror(data: Data, tmp_path: Path, script: Script, name: str) -> subprocess.CompletedProcess[str]:
    script("extract_dataset.py", "--data_dir", data.folder, "--output", tmp_path / "d.jsonl")
    return script(
        "run_adapter.py", "--dataset_path", tmp_path / "d.jsonl", "--data_dir", data.folder,
        "--output_dir", tmp_path / "tasks", "--mirror_repos", tmp_path / name, "--quiet",
    )  # fmt: skip


def test_each_project_is_one_repository_with_the_files_that_agents_see(
    data: Data, tmp_path: Path, script: Script
) -> None:
    data.project({**FILES, ".gitattributes": "*.bin text eol=crlf\n", ".gitignore": "*\n", "a.bin": b"a\r\nb\n"})
    scenarios = [data.scenario(), data.scenario(number=2)]
    assert mirror(data, tmp_path, script, "repos").returncode == 0
    (entry,) = json.loads((tmp_path / "repos" / "projects_to_index.json").read_text())
    assert entry["tasks"] == scenarios
    assert entry["language"] == "python"
    subprocess.run(["git", "clone", "-q", tmp_path / "repos" / entry["path"], tmp_path / "clone"], check=True)
    clone = {path: content for path, content in tree(tmp_path / "clone").items() if not path.startswith(".git/")}
    assert sorted(clone) == sorted([*FILES, ".gitattributes", ".gitignore", "a.bin"])
    head = subprocess.run(
        ["git", "-C", tmp_path / "clone", "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    )
    assert head.stdout.strip() == entry["commit"]
    stored = subprocess.run(["git", "-C", tmp_path / "clone", "show", "HEAD:a.bin"], capture_output=True, check=True)
    assert stored.stdout == b"a\r\nb\n"


def test_the_same_project_gives_the_same_commit(data: Data, tmp_path: Path, script: Script) -> None:
    data.project()
    data.scenario()
    for name in ("one", "two", "two"):
        assert mirror(data, tmp_path, script, name).returncode == 0
    one, two = ((tmp_path / name / "projects_to_index.json").read_text() for name in ("one", "two"))
    assert one == two
    status = subprocess.run(
        ["git", "-C", tmp_path / "two" / PROJECT, "status", "--short"], capture_output=True, check=True
    )
    assert status.stdout == b""


def test_folder_of_another_origin_is_left_alone(data: Data, tmp_path: Path, script: Script) -> None:
    data.project()
    data.scenario()
    mine = tmp_path / "repos" / PROJECT / "mine.txt"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    done = mirror(data, tmp_path, script, "repos")
    assert (done.returncode, mine.read_text()) == (2, "mine")
    assert "was not written by this program" in done.stderr


def test_a_project_none_of_whose_tasks_was_made_is_not_mirrored(data: Data, tmp_path: Path, script: Script) -> None:
    data.project()
    data.project(name="c_os_medium_002")
    good, broken = data.scenario(), data.scenario(project="c_os_medium_002")
    script("extract_dataset.py", "--data_dir", data.folder, "--output", tmp_path / "d.jsonl")
    records = [json.loads(line) for line in (tmp_path / "d.jsonl").read_text().splitlines()]
    lines = [json.dumps({**record, "title": record["title"] if record["id"] == good else 1}) for record in records]
    (tmp_path / "d.jsonl").write_text("\n".join(lines))
    done = script(
        "run_adapter.py", "--dataset_path", tmp_path / "d.jsonl", "--data_dir", data.folder,
        "--output_dir", tmp_path / "tasks", "--mirror_repos", tmp_path / "repos", "--quiet",
    )  # fmt: skip
    assert done.returncode == 1
    assert f"{broken}: " in done.stderr
    (entry,) = json.loads((tmp_path / "repos" / "projects_to_index.json").read_text())
    assert entry["tasks"] == [good]


def test_fixes_in_later_commits_beside_are_named(data: Data, tmp_path: Path, script: Script) -> None:
    facts = {"checked": False, "control_group": False, "grep_f1": 0.1}
    truth = {"measure": "f2", "items": ["src/orders.py: place"], "names": {}, "grep": []}
    shared: dict[str, Any] = {"source": "derived", "authors": ["a"], "language": "python", "ground_truth": truth}
    for project, tier in (("shop_1", "syntax"), ("shop_2", "history"), ("shop_3", "history"), ("alone_1", "history")):
        data.project(name=project)
        derived = {**facts, "kind": "any", "tier": tier, "repository": project.partition("_")[0]}
        data.scenario(project=project, project_id=project, derived=derived, **shared)

    done = mirror(data, tmp_path, script, "repos")

    assert done.returncode == 0
    (told,) = [line for line in done.stderr.splitlines() if "history" in line]
    assert "questions from the history of shop (2)" in told
    assert "select_tasks.py --categories code_structure" in told


def test_projects_of_earlier_calls_are_named(data: Data, tmp_path: Path, script: Script) -> None:
    for project in ("shop_1", "shop_2"):
        data.project(name=project)
        data.scenario(project=project, project_id=project, source="own", authors=["a"], language="python")
    assert "earlier calls" not in mirror(data, tmp_path, script, "repos").stderr
    listed = tmp_path / "repos" / "projects_to_index.json"
    for path in (data.folder / "output/scenarios").glob("shop_2*"):
        path.unlink()
    assert "does not name the projects of earlier calls (shop_2)" in mirror(data, tmp_path, script, "repos").stderr
    assert len(json.loads(listed.read_text())) == 1

"""What must hold whatever the data: the scripts run on it in a fresh folder, and every promise is checked."""

from __future__ import annotations

import contextlib
import io
import json
import os
import stat
import tomllib
from pathlib import Path

import pytest

import extract_dataset
import run_adapter
from locobench import reading
from locobench.scoring import verify
from locobench.shared import command_line
from locobench.shared.command_line import Script
from tests.support.data_builder import PROJECT
from tests.support.strategies import SECRET, Entry, lay_out


def check_extraction(root: Path, scenarios: list[tuple[str, bytes]]) -> list[str]:
    """Extract `scenarios` in the empty folder `root`; return the ids written to root/d.jsonl."""
    folder = root / "data" / "output" / "scenarios"
    folder.mkdir(parents=True)
    for name, content in scenarios:
        (folder / f"{name}.json").write_bytes(content)
    files = sorted(path.name for path in folder.iterdir())
    before = snapshot(root)
    code, output, errors = call(
        extract_dataset.main, "--data_dir", str(root / "data"), "--output", str(root / "d.jsonl"), "--quiet"
    )
    after = snapshot(root)
    lines = (root / "d.jsonl").read_bytes().splitlines() if code != command_line.WRONG_USE else []
    ids = [json.loads(line)["id"] for line in lines]
    assert after.pop("d.jsonl", None) is not None or code == command_line.WRONG_USE
    assert after == before, "something was written beside the output"
    assert ids == sorted(set(ids))
    assert {f"{task_id}.json" for task_id in ids} <= set(files)
    assert output == ""
    assert len(errors.splitlines()) == (len(files) - len(ids) if files else 1), errors
    assert code == (
        command_line.WRONG_USE
        if not files
        else command_line.SOME_FAILED
        if len(ids) < len(files)
        else command_line.DONE
    )
    return ids


def check_generation(root: Path, scenarios: list[tuple[str, bytes]], entries: list[Entry], flags: set[str]) -> int:
    """Run the pipeline in the empty folder `root`, generation with `flags`; return how many tasks were written."""
    outside = root / "outside"
    outside.mkdir()
    (outside / "secret").write_text(SECRET)
    lay_out(entries, root / "data" / "generated" / PROJECT, outside)
    ids = check_extraction(root, scenarios)
    if not ids:
        return 0
    tasks = root / "tasks"
    arguments = ["--data_dir", str(root / "data"), "--dataset_path", str(root / "d.jsonl"), "--output_dir", str(tasks)]
    arguments += sorted(flags)
    before = snapshot(root)
    code, _, errors = call(run_adapter.main, *arguments, "--quiet")
    first = snapshot(root)
    assert {path: state for path, state in first.items() if path.partition("/")[0] != "tasks"} == before
    written = sorted(path.name for path in tasks.iterdir())
    assert set(written) <= set(ids), "a folder that is no task was left"
    assert code == (command_line.DONE if written == ids else command_line.SOME_FAILED)
    assert errors.count("; not written\n") == len(ids) - len(written)
    for task_id in written:
        check_task(tasks / task_id)
    again, output, _ = call(run_adapter.main, *arguments)
    assert again == code
    assert f"0 tasks written to {tasks}, {len(written)} unchanged" in output
    assert snapshot(root) == first, "a rerun with nothing changed wrote something"
    return len(written)


def check_task(task: Path) -> None:
    """Check that a task is whole, holds nothing from outside, and that its oracle earns 1.0 and silence 0.0."""
    project = task / "environment" / "project"
    for folder, folders, files in os.walk(task):
        for name in [*folders, *files]:
            path = Path(folder, name)
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode):
                target = path.resolve(strict=True)
                assert target.is_relative_to(project), f"{path} leads to {target}"
            else:
                assert stat.S_ISDIR(mode) or stat.S_ISREG(mode), f"{path} is neither file nor folder"
            if stat.S_ISREG(mode):
                assert SECRET.encode() not in path.read_bytes(), f"{path} holds what lies outside the project"
                assert not mode & (stat.S_ISUID | stat.S_ISGID | stat.S_IWGRP | stat.S_IWOTH)
    config = tomllib.loads((task / "task.toml").read_text())
    assert config["task"]["name"] == f"locobench/{task.name.replace('_', '-')}"
    assert (task / "environment" / "Dockerfile").read_text().startswith("FROM ubuntu:24.04 AS language\n")
    metadata = json.loads((task / "tests" / "task_metadata.json").read_bytes())
    for path in metadata["context_files"]:
        assert (project / path).is_file(), f"{path} is scored and not there"
    key = json.loads((task / "tests" / "ground_truth.json").read_bytes())["key"]
    oracle, problem = reading.read_answer(str(task / "solution" / "solution.md"))
    assert problem == ""
    assert verify.score(oracle, key)["reward"] == 1.0
    for silence in ("", " \n\n", "I do not know."):
        assert verify.score(silence, key)["reward"] == 0.0


def call(main: Script, *arguments: str) -> tuple[int, str, str]:
    """Run a script's `main`; return exit code, stdout, stderr. Any exception but the documented ones goes through."""
    output, errors = io.StringIO(), io.StringIO()
    with (
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(errors),
        pytest.raises(SystemExit) as ended,
    ):
        main(list(arguments))
    return int(str(ended.value.code)), output.getvalue(), errors.getvalue()


def snapshot(root: Path) -> dict[str, tuple[object, ...]]:
    """Return mode, size and modification time of everything below `root`, and where links lead."""
    found: dict[str, tuple[object, ...]] = {}
    for folder, folders, files in os.walk(root):
        for name in [*folders, *files]:
            path = Path(folder, name)
            status = path.lstat()
            if stat.S_ISDIR(status.st_mode):
                found[str(path.relative_to(root))] = (status.st_mode,)
            else:
                link = str(path.readlink()) if stat.S_ISLNK(status.st_mode) else ""
                found[str(path.relative_to(root))] = (status.st_mode, status.st_size, status.st_mtime_ns, link)
    return found

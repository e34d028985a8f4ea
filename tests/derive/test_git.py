"""One way to call git: nothing of a repository's configuration or the caller's environment runs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from locobench.derive.code.tree import Repository, write_tree
from locobench.shared import git
from locobench.shared.errors import InputError
from tests.conftest import Script
from tests.derive.repositories import CHAIN, PADDING, commit
from tests.derive.repositories import git as plain_git

KEYS = (
    "core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass", "core.gitProxy", "core.hooksPath",
    "core.alternateRefsCommand", "credential.helper", "diff.external", "diff.own.command", "diff.own.textconv",
    "filter.own.clean", "filter.own.smudge", "filter.own.process", "merge.own.driver", "gpg.program", "gpg.ssh.program",
    "pager.log", "pager.diff-tree", "sequence.editor", "uploadpack.packObjectsHook", "alias.log", "alias.ls-tree",
)  # fmt: skip
VARIABLES = (
    "GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_EDITOR", "GIT_SSH_COMMAND", "GIT_SSH", "GIT_ASKPASS", "SSH_ASKPASS",
    "GIT_PROXY_COMMAND",
)  # fmt: skip


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """Return a program that leaves a file `ran` beside itself, and has the names of all hooks."""
    for name in ("trap", "pre-commit", "post-commit", "post-checkout", "post-index-change", "reference-transaction"):
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\necho $0 $* >>{tmp_path}/ran\ncat\n")
        program.chmod(0o755)
    return tmp_path / "trap"


def everything(folder: Path) -> None:
    """Do what the program does with git: read a tree and the history."""
    repository = Repository(folder)
    tree = repository.tree(repository.commit())
    write_tree(repository, tree, folder.parent / "written")
    repository.git("log", "--raw", "-z", "--format=%H", "HEAD")
    repository.git("diff-tree", "-r", "-p", "-U0", tree.commit)


@pytest.mark.parametrize("key", KEYS)
def test_no_key_of_a_repository_runs_a_program(key: str, trap: Path) -> None:
    folder = trap.parent / "repository"
    commit(folder, CHAIN | {".gitattributes": "*.py filter=own diff=own merge=own\n"})
    commit(folder, {"shop/cli.py": "def run_shop(): ...\n"}, "Change")
    value = str(trap.parent) if key == "core.hooksPath" else f"!{trap}" if key.startswith("alias") else str(trap)
    plain_git(folder, "config", key, value)
    everything(folder)
    assert not (trap.parent / "ran").exists()


def test_the_trap_snaps_when_git_is_called_plainly(trap: Path) -> None:
    commit(trap.parent / "repository", CHAIN)
    plain_git(trap.parent / "repository", "config", "core.fsmonitor", str(trap))
    plain_git(trap.parent / "repository", "status")
    assert (trap.parent / "ran").exists()


@pytest.mark.parametrize("name", VARIABLES)
def test_no_variable_of_the_caller_runs_a_program(name: str, trap: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(trap.parent / "repository", CHAIN)
    monkeypatch.setenv(name, str(trap))
    everything(trap.parent / "repository")
    assert not (trap.parent / "ran").exists()


def test_the_caller_s_variables_name_no_other_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, other = commit(tmp_path / "one", CHAIN), commit(tmp_path / "other", PADDING)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
    assert Repository(tmp_path / "one").commit() == first != other


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_repository_of_another_user_is_told_as_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(tmp_path / "one", CHAIN)
    subprocess.run(["chown", "-R", "12345", tmp_path / "one"], check=True)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(InputError, match=r"git config --global --add safe\.directory"):
        Repository(tmp_path / "one")
    (tmp_path / ".gitconfig").write_text(f"[safe]\n\tdirectory = {tmp_path / 'one'}\n")
    git._trusted_folders.cache_clear()
    assert Repository(tmp_path / "one").name == "one"
    git._trusted_folders.cache_clear()


def test_a_missing_object_is_told_in_one_line(tmp_path: Path, script: Script) -> None:
    folder = tmp_path / "shop"
    commit(folder, CHAIN | PADDING | {"lost.py": "x = 1\n"})
    lost = plain_git(folder, "rev-parse", "HEAD:lost.py")
    (folder / ".git" / "objects" / lost[:2] / lost[2:]).unlink()
    done = script("derive_scenarios.py", folder, "--output_dir", tmp_path / "data")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "its content is missing" in done.stderr


def test_a_clone_without_its_files_says_what_to_run(tmp_path: Path, script: Script) -> None:
    folder, clone = tmp_path / "shop", tmp_path / "clone"
    commit(folder, CHAIN)
    plain_git(folder, "config", "uploadpack.allowFilter", "true")
    plain_git(tmp_path, "clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{folder}", "clone")
    done = script("derive_scenarios.py", clone, "--output_dir", tmp_path / "data", "--quiet")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    told = done.stderr.partition("run `")[2].partition("`")[0]
    subprocess.run(told.split(), check=True, capture_output=True)
    assert script("derive_scenarios.py", clone, "--output_dir", tmp_path / "data", "--quiet").returncode in (0, 1)

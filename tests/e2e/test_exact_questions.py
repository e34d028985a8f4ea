"""Exact answers against independent resolvers, each on the questions of a real repository.

$LOCOBENCH_REPOS names a folder of archives (NAME.tar.xz with a bare repository); without it, this repository's own
Python is checked. The resolvers are installed by `run.sh prepare`; what cannot be had is skipped.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY, Script
from tests.e2e.resolvers.check import MODULES, REPOSITORIES, check

pytestmark = pytest.mark.e2e

LEAST = 0.99
"""Precision and recall of the strict tier, over all items of a kind."""
NEEDS = {
    "python": "pyright", "php": "intelephense", "typescript": "typescript", "javascript": "typescript",
    "go": "go", "java": "javac", "c": "clangd",
}  # fmt: skip
MISSING_HEADERS = frozenset({"c"})
"""clangd cannot tell what hangs on headers of libraries that are not installed: what it misses is no fault of ours."""
ARCHIVES = Path(os.environ.get("LOCOBENCH_REPOS") or "/nonexistent")


def unpacked(name: str, folder: Path) -> Path:
    """Return a checkout of a repository."""
    if not (ARCHIVES / f"{name}.tar.xz").is_file():
        pytest.skip(f"LOCOBENCH_REPOS names no folder with {name}.tar.xz")
    subprocess.run(["tar", "-xJf", ARCHIVES / f"{name}.tar.xz", "-C", folder], check=True)
    subprocess.run(["git", "clone", "-q", folder / f"{name}.git", folder / name], check=True)
    return folder / name


def need(language: str) -> None:
    """Skip where the language's resolver is not installed."""
    tool = NEEDS[language]
    if not (MODULES / tool).is_dir() and shutil.which(tool) is None:
        pytest.skip(f"{tool} cannot be had here")
    if (MODULES / tool).is_dir() and shutil.which("node") is None:
        pytest.skip("node cannot be had here")


@pytest.mark.parametrize("name", REPOSITORIES)
def test_answers_agree_with_a_resolver_that_knows_nothing_of_the_strict_rule(name: str, tmp_path: Path) -> None:
    language = REPOSITORIES[name]
    need(language)
    root = unpacked(name, tmp_path)
    if language == "c":
        commands = [
            {"directory": str(root), "file": str(file), "arguments": ["cc", "-x", "c", "-I.", "-c", str(file)]}
            for file in sorted([*root.rglob("*.c"), *root.rglob("*.h")])
        ]
        (root / "compile_commands.json").write_text(json.dumps(commands), encoding="utf-8")
    for kind, score in check(root, language).items():
        assert score.recall >= LEAST, (kind, score.differences)
        if language not in MISSING_HEADERS:
            assert score.precision >= LEAST, (kind, score.differences)


def test_this_repository_agrees_too(tmp_path: Path) -> None:
    need("python")
    subprocess.run(["git", "clone", "-q", REPOSITORY, tmp_path / "own"], check=True)
    for kind, score in check(tmp_path / "own", "python", most=8).items():
        assert min(score.precision, score.recall) >= LEAST, (kind, score.differences)


BOUND, LANGUAGES = 150, 9


def test_ten_repositories_give_enough_hard_questions_with_targets_of_their_own(tmp_path: Path, script: Script) -> None:
    names = sorted(archive.name.removesuffix(".tar.xz") for archive in ARCHIVES.glob("*.tar.xz"))
    if len(names) < 10:
        pytest.skip("LOCOBENCH_REPOS names no folder with ten repositories")
    roots = [unpacked(name, tmp_path) for name in names]
    script("derive_scenarios.py", *roots, "--output_dir", tmp_path / "data", "--quiet")
    asked = [json.loads(path.read_bytes()) for path in (tmp_path / "data/output/scenarios").iterdir()]
    hard = [one for one in asked if one["derived"]["grep_f1"] <= 0.8 and not one["derived"]["control_group"]]
    assert len(hard) >= BOUND
    assert len({(one["id"].rpartition("_code_")[0], one["title"]) for one in hard}) == len(hard)
    assert len({one["id"].partition("_")[0] for one in hard}) >= LANGUAGES

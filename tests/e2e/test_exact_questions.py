"""Exact answers against independent resolvers, each on the questions of a real repository.

$LOCOBENCH_REPOS names a folder of archives (NAME.tar.xz with a bare repository); without it, this repository's own
Python is checked. The resolvers are installed by `run.sh prepare`; what cannot be had is skipped.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from locobench.derive.kinds import CHECKED
from tests.conftest import REPOSITORY, Script
from tests.derive.repositories import commit
from tests.e2e.resolvers import changed
from tests.e2e.resolvers.changed import changed_functions, children
from tests.e2e.resolvers.check import REPOSITORIES, check, check_together
from tests.e2e.resolvers.facts import MODULES, tool

pytestmark = pytest.mark.e2e

ALL = bool(os.environ.get("E2E_ALL"))
MOST = 8 if ALL else 3
"""Questions of a kind: a language server takes up to a second for each symbol on the way."""
NEEDS = {
    "python": "pyright", "php": "intelephense", "typescript": "typescript", "javascript": "typescript",
    "go": "go", "java": "javac", "c": "clangd",
}  # fmt: skip
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
    name = NEEDS[language]
    if not (MODULES / name).is_dir() and tool(name) is None:
        pytest.skip(f"{name} cannot be had here")
    if (MODULES / name).is_dir() and shutil.which("node") is None:
        pytest.skip("node cannot be had here")


FAMILY = ("urllib3==2.8.0", "requests==2.34.2", "requests-toolbelt==1.0.0", "twine==7.0.0")
"""Packages that use one another, as PyPI serves their source."""


def test_keys_across_repositories_are_those_of_an_independent_resolver(tmp_path: Path) -> None:
    need("python")
    fetch: list[str | Path] = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", tmp_path]
    (tmp_path / "family").mkdir()
    for package in FAMILY:
        name = package.partition("==")[0]
        if subprocess.run([*fetch, "--no-binary", name, package], capture_output=True).returncode:
            pytest.skip(f"PyPI does not serve the source of {package} here")
        (archive,) = tmp_path.glob("*.tar.gz")
        folder = tmp_path / "family" / name
        folder.mkdir()
        subprocess.run(["tar", "-xzf", archive, "-C", folder, "--strip-components", "1"], check=True)
        archive.unlink()
        commit(folder, {})
    scores = check_together(tmp_path / "family", "python")
    assert scores["users_in_steps"].questions >= 5
    assert [one for score in scores.values() for one in score.differences] == []


LARGE = {"prometheus", "inspect_ai"}
PAIRS = [
    (name, language) for name, languages in REPOSITORIES.items() if ALL or name not in LARGE for language in languages
]


@pytest.mark.parametrize(("name", "language"), PAIRS, ids=[f"{name} {language}" for name, language in PAIRS])
def test_keys_that_count_as_checked_are_those_of_an_independent_resolver(
    name: str, language: str, tmp_path: Path
) -> None:
    need(language)
    for kind, score in check(unpacked(name, tmp_path), language, MOST).items():
        if language in CHECKED[kind]:
            assert not score.differences


def test_this_repository_agrees_too(tmp_path: Path) -> None:
    if ARCHIVES.is_dir() and not ALL:
        pytest.skip("LOCOBENCH_REPOS has other Python to check")
    need("python")
    subprocess.run(["git", "clone", "-q", REPOSITORY, tmp_path / "own"], check=True)
    for score in check(tmp_path / "own", "python", most=3).values():
        assert not score.differences


def test_keys_from_the_history_are_what_pythons_parser_says_changed(tmp_path: Path, script: Script) -> None:
    click = unpacked("click", tmp_path)
    few = ("--history", 60, "--max_questions", 0, "--output_dir", tmp_path / "data", "--quiet")
    script("derive_scenarios.py", click, *few)
    asked = [json.loads(path.read_bytes()) for path in (tmp_path / "data/output/scenarios").iterdir()]
    after = children(click)
    right = changed_functions(click, [one for item in asked for one in after[item["metadata"]["commit"]]], "python")
    assert len(asked) >= 20
    for one in asked:
        key = set(one["ground_truth"]["items"])
        assert any(right[commit] == key for commit in after[one["metadata"]["commit"]]), one["id"]


OTHERS = [(name, language) for name, language in changed.REPOSITORIES.items() if language != "python"]


@pytest.mark.parametrize(("name", "language"), OTHERS, ids=[f"{name} {language}" for name, language in OTHERS])
def test_keys_from_the_history_are_what_the_languages_own_parser_says_changed(
    name: str, language: str, tmp_path: Path
) -> None:
    need(language)
    keys, _, differences = changed.check(unpacked(name, tmp_path), language)
    assert keys >= 30
    assert differences == []


BOUND, LANGUAGES = 150, 7


def test_twelve_repositories_give_enough_hard_questions(tmp_path: Path, script: Script) -> None:
    names = sorted(archive.name.removesuffix(".tar.xz") for archive in ARCHIVES.glob("*.tar.xz"))
    if len(names) < 12:
        pytest.skip("LOCOBENCH_REPOS names no folder with twelve repositories")
    roots = [unpacked(name, tmp_path) for name in names]
    script("derive_scenarios.py", *roots, "--output_dir", tmp_path / "data", "--quiet")
    asked = [json.loads(path.read_bytes()) for path in (tmp_path / "data/output/scenarios").iterdir()]
    hard = [
        one for one in asked
        if one["derived"]["grep_f1"] <= 0.8 and not one["derived"]["control_group"]
        and one["task_category"] == "code_structure"
    ]  # fmt: skip
    assert len(hard) >= BOUND
    assert len({(one["id"].rpartition("_code_")[0], one["title"]) for one in hard}) == len(hard)
    assert len({one["language"] for one in hard}) >= LANGUAGES

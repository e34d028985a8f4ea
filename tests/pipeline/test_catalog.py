"""The tables that people add to: languages with packages and run lines, categories with a bonus."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import tomli_w

from locobench.dataset.catalog import load_language, load_languages
from locobench.generate import make
from locobench.generate.options import Options
from locobench.selection.candidates import Candidate
from locobench.selection.select import select
from locobench.shared.errors import InputError
from select_tasks import default_criteria
from tests.support.suite import REPOSITORY
from tools.bench.images import all_in_one

LANGUAGES = tuple(load_languages())

KOTLIN = """
[kotlin]
packages = ["default-jdk-headless", "unzip"]
run = ["curl -fsSLo /tmp/k.zip https://example.org/k.zip && unzip -q /tmp/k.zip -d /opt", "ln -s /opt/k/bin/* /usr/bin"]
check = "kotlinc -version"
"""


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_table_can_be_used(language: str) -> None:
    assert load_language(language)["packages"]


def test_all_languages_begin_with_the_same_layer_that_has_compiler_git_and_downloads() -> None:
    begin = {make.render_dockerfile(language, Options()).partition(f"\n# {language}\n")[0] for language in LANGUAGES}

    (shared,) = begin
    assert {"build-essential", "ca-certificates", "curl", "git", "python3", "wget"} <= set(shared.split())


def test_one_image_can_have_every_language(tmp_path: Path) -> None:
    """What `make bench-images` measures the others against."""
    table = tmp_path / "languages.toml"
    table.write_text(tomli_w.dumps({"all": all_in_one(load_languages())}))
    dockerfile = make.render_dockerfile("all", Options(base_image="debian:12", languages=table))

    assert [line for line in dockerfile.splitlines() if line.startswith("FROM")] == [
        "FROM debian:12 AS language",
        "FROM language",
    ]
    words = {word.strip('";') for word in dockerfile.replace("=", " ").split()}
    assert {name for table in load_languages().values() for name in table["packages"]} <= words


def test_run_lines_stand_behind_the_packages_and_before_the_project(tmp_path: Path) -> None:
    table = tmp_path / "languages.toml"
    table.write_text(KOTLIN)

    lines = make.render_dockerfile("kotlin", Options(languages=table)).splitlines()

    first = next(line for line in lines if line.startswith("RUN curl"))
    order = [next(place for place, line in enumerate(lines) if text in line) for text in ('unzip"', first, "COPY")]
    assert order == sorted(order)
    assert lines[order[1] + 1] == "RUN ln -s /opt/k/bin/* /usr/bin"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("packages = ['a']", "check: missing"),
        ("check = 'a'", "packages: missing"),
        ("check = 'a'\npackages = 'a'", "packages: not a list of single lines"),
        ("check = 'a'\npackages = ['a', 1]", "packages: not a list of single lines"),
        ("check = ['a']\npackages = ['a']", "check: not a single line"),
        ("check = 'a'\npackages = ['a']\nrun = ['a\\nUSER x']", None),
        ('check = "a"\npackages = ["a"]\nrun = ["a\\nUSER x"]', "run: not a list of single lines"),
        ("check = 'a'\npackages = ['a']\nruns = ['a']", "runs: unknown, known are packages, fallback, run, check"),
    ],
)
def test_a_table_that_cannot_be_used_is_named_with_its_key(tmp_path: Path, text: str, message: str | None) -> None:
    (tmp_path / "languages.toml").write_text(f"[kotlin]\n{text}\n")
    if message is None:
        assert load_language("kotlin", tmp_path / "languages.toml")
    else:
        with pytest.raises(InputError, match=rf"languages\.toml: \[kotlin\] {message}"):
            load_language("kotlin", tmp_path / "languages.toml")


def test_a_language_without_a_table_is_named() -> None:
    with pytest.raises(InputError, match=r"no table \[cobol\]"):
        load_language("cobol")


def test_a_file_of_languages_adds_to_the_built_in_ones_and_counts_before_them(tmp_path: Path) -> None:
    table = tmp_path / "mine.toml"
    table.write_text(KOTLIN + '[go]\npackages = ["gccgo"]\ncheck = "gccgo --version"\n')

    assert {*load_languages(table)} == {*LANGUAGES, "kotlin"}
    assert load_language("go", table)["packages"] == ["gccgo"]
    assert load_language("python", table) == load_language("python")


def test_a_category_without_a_bonus_is_an_error_that_says_where_to_add_one() -> None:
    tasks = [Candidate("a", "nobodys", "hard", "python", 100_000, 50)]

    with pytest.raises(InputError, match="no category bonus for nobodys; add one"):
        select(tasks, default_criteria())
    assert select(tasks, default_criteria(categories=("bug_investigation",))).selected == []


def test_a_broken_table_is_one_line_with_its_position(tmp_path: Path) -> None:
    for name in ("locobench", "templates", "adapter.py", "run_adapter.py"):
        source, copy = REPOSITORY / name, tmp_path / name
        shutil.copytree(source, copy) if source.is_dir() else shutil.copyfile(source, copy)
    table = tmp_path / "templates/environment/languages.toml"
    table.write_text('[c]\npackages = ["gcc"]\ncheck = gcc\n')
    command = [sys.executable, "run_adapter.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stderr == f"run_adapter.py: {table}: not TOML: Invalid value (at line 3, column 9)\n"

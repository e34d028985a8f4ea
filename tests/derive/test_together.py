"""derive_scenarios.py --together: questions across repositories that lie side by side."""

# ruff: noqa: E501 - a file of code is one line here.

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from locobench.derive.code.build import build
from locobench.derive.code.scope import scopes, texts
from locobench.derive.code.tree import Family, Repository
from locobench.derive.finding import Finding
from locobench.derive.structure import Structure
from tests.conftest import Script
from tests.derive.repositories import PADDING, commit

Files = dict[str, str]

# `mint_token` is used in `lib` itself, in both others through its package, and in one of them a step further.
LIB: Files = {
    "pyproject.toml": '[project]\nname = "The.Lib"\nversion = "1"\n',
    "src/lib/__init__.py": "from .tokens import mint_token as mint_token\n",
    "src/lib/tokens.py": "def mint_token():\n    return 1\n\n\ndef inner():\n    return mint_token()\n",
}
ONE: Files = {
    "pyproject.toml": '[project]\nname = "one"\ndependencies = [ "the-lib>=2", "other" ]\n',
    "one/__init__.py": "",
    "one/views.py": "import lib\n\n\ndef show_ticket():\n    return lib.mint_token()\n",
    "one/again.py": "from one.views import show_ticket\n\n\ndef twice_over():\n    return [show_ticket(), show_ticket()]\n",
    "one/more.py": "from one.again import twice_over\n\n\ndef thrice_over():\n    return twice_over()\n",
}
TWO: Files = {
    "setup.py": "from setuptools import setup\n\nsetup(name='two', install_requires=['the_lib[fast] ; python_version > \"3\"'])\n",
    "two/__init__.py": "",
    "two/api.py": "from lib.tokens import mint_token\n\n\nclass Api:\n    def redeem_ticket(self):\n        return mint_token()\n",
}


def family(folder: Path, **members: Files) -> Family:
    for name, files in members.items():
        commit(folder / name, files)
    return Family([Repository(folder / name) for name in members])


def asked(members: Family, name: str, language: str = "python") -> dict[tuple[str, int], Finding]:
    """Return the questions about a name of `lib`, by kind and depth."""
    scope = scopes(members.tree(members.commit()))[0][language]
    index = build(scope.language, texts(members, scope), together=True)
    found = Structure(index).findings()
    return {
        (one.kind, one.depth): one
        for one in found
        if one.target.startswith("lib/") and one.target.endswith(f": {name}")
    }


def scenarios(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_bytes()) for path in sorted((folder / "output" / "scenarios").iterdir())]


STEPS = ("one/one/again.py: twice_over", "one/one/views.py: show_ticket", "two/two/api.py: Api.redeem_ticket")


def test_users_in_the_other_repositories_are_the_answer_and_steps_are_followed_there(tmp_path: Path) -> None:
    found = asked(family(tmp_path, lib=LIB, one=ONE, two=TWO), "mint_token")
    assert found["users_in_steps", 2].answer == STEPS
    assert found["users_in_steps", 3].answer == (STEPS[0], "one/one/more.py: thrice_over", *STEPS[1:])


def test_the_command_lays_the_repositories_side_by_side_in_one_project(tmp_path: Path, script: Script) -> None:
    padding = {f"rest/{path}": text for path, text in PADDING.items()}
    family(tmp_path, lib=LIB | padding, one=ONE, **{"t wo": TWO})
    data = tmp_path / "data"
    done = script(
        "derive_scenarios.py", *(tmp_path / name for name in ("t wo", "lib", "one")), "--together", "--output_dir", data
    )
    assert (done.returncode, done.stderr.count("no question")) == (0, 0), done.stderr
    (project,) = (data / "generated").iterdir()
    root = project / "lib-one-t wo"
    assert sorted(path.name for path in root.iterdir()) == ["lib", "one", "t wo"]
    assert (root / "t wo/two/api.py").read_text() == TWO["two/api.py"]
    (one,) = [one for one in scenarios(data) if "mint_token" in one["title"]]
    assert "List only what is outside `lib/`" in one["task_prompt"]
    assert {item.split("/")[0] for item in one["ground_truth"]["items"]} == {"one", "t wo"}
    assert script("extract_dataset.py", "--data_dir", data, "--output", tmp_path / "d.jsonl").returncode == 0


NOT_THE_LIB = {
    "a dependency that is not declared": {"pyproject.toml": '[project]\nname = "two"\ndependencies = ["the-lib-2"]\n', "setup.py": ""},
    "the name from an outside package": {"two/api.py": "from outside import mint_token\n\n\ndef call():\n    return mint_token()\n"},
    "everything from an outside package": {"two/api.py": "from outside import *\n\n\ndef call():\n    return mint_token()\n"},
    "an object that may be the module": {"two/api.py": "import lib\n\n\ndef call(it=lib):\n    return it.mint_token()\n"},
    "the package through a try": {"two/api.py": "try:\n    import outside as lib\nexcept ImportError:\n    import lib\n\n\ndef call():\n    return lib.mint_token()\n"},
    "its own function": {"two/free.py": "def mint_token():\n    return 3\n\n\ndef free():\n    return mint_token()\n"},
    "a parameter": {"two/free.py": "def free(mint_token):\n    return mint_token\n"},
    "an attribute of an object": {"two/free.py": "def free(it):\n    return it.mint_token + it.mint_token()\n"},
}  # fmt: skip


@pytest.mark.parametrize("what", NOT_THE_LIB)
def test_what_may_be_an_outside_package_is_not_asked_about(what: str, tmp_path: Path) -> None:
    assert not asked(family(tmp_path, lib=LIB, one=ONE, two=TWO | NOT_THE_LIB[what]), "mint_token")


GO_LIB = {
    "go.mod": "module example.org/lib\n",
    "tokens/tokens.go": "package tokens\n\nfunc MintToken() int { return 1 }\n",
}


def go(name: str, rest: str) -> Files:
    """Return a module with three users of MintToken."""
    users = {
        f"p{n}/p.go": f'package p{n}\n\nimport "example.org/lib/tokens"\n\nfunc Use{n}() int {{ return tokens.MintToken() }}\n'
        for n in (1, 2, 3)
    }
    return {"go.mod": f"module example.org/{name}\n\n{rest}", **users}


@pytest.mark.parametrize(
    ("rest", "known"),
    [
        ("require example.org/lib v1.2.0\n", True),
        ("require (\n\texample.org/lib v1.2.0\n)\n", True),
        ("require example.org/other v1.2.0\n", False),
        ("require example.org/lib v1.2.0\n\nreplace example.org/lib => example.org/fork v1.0.0\n", False),
        ("require example.org/lib v1.2.0\n\nreplace (\n\texample.org/lib v1.2.0 => ../fork\n)\n", False),
    ],
)
def test_a_go_module_is_the_one_that_go_mod_requires_and_does_not_replace(
    rest: str, known: bool, tmp_path: Path
) -> None:
    found = asked(family(tmp_path, lib=GO_LIB, one=go("one", rest)), "MintToken", "go")
    assert [one.answer for one in found.values()] == [tuple(f"one/p{n}/p.go: Use{n}" for n in (1, 2, 3))] * known


def test_languages_whose_packages_are_not_told_apart_are_named_in_a_line(tmp_path: Path, script: Script) -> None:
    rust = {"src/lib.rs": "pub fn one() {}\n"}
    family(tmp_path, lib=LIB | rust, one=ONE, two=TWO)
    done = script("derive_scenarios.py", *(tmp_path / name for name in ("lib", "one", "two")), "--together",
                  "--output_dir", tmp_path / "data", "--quiet")  # fmt: skip
    assert "--together cannot tell packages apart in Rust; left out" in done.stderr


@pytest.mark.parametrize("names", [("lib",), ("lib", "copy/lib")])
def test_fewer_than_two_or_two_of_one_name_cannot_be_asked_across(
    names: tuple[str, ...], tmp_path: Path, script: Script
) -> None:
    for name in names:
        commit(tmp_path / name, LIB)
    folders = [tmp_path / name for name in names]
    done = script("derive_scenarios.py", *folders, "--together", "--output_dir", tmp_path / "data")
    assert (done.returncode, done.stderr.count("\n"), (tmp_path / "data").exists()) == (2, 1, False)
    assert "--together: " in done.stderr

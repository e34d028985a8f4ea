"""derive_scenarios.py: from a repository to scenarios that the other scripts take as they are."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from locobench.harbor.task import TaskFolder
from tests.conftest import Script
from tests.derive.repositories import CHAIN, PADDING, commit, git
from tests.support.data_builder import tree

FIX = "Fix a crash when somebody reads an empty amount"
FIXED = {name: text.replace("(text)\n", "(text or '0')\n") for name, text in CHAIN.items()}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    commit(tmp_path / "shop", CHAIN | PADDING)
    return tmp_path / "shop"


def scenarios(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_bytes()) for path in sorted((folder / "output" / "scenarios").iterdir())]


def test_users_in_any_number_of_steps_are_asked_for_with_their_exact_answer(
    shop: Path, tmp_path: Path, script: Script
) -> None:
    done = script("derive_scenarios.py", shop, "--output_dir", tmp_path / "data", "--quiet")
    assert (done.returncode, done.stdout) == (0, "")
    (asked,) = [
        one
        for one in scenarios(tmp_path / "data")
        if one["derived"]["kind"] == "all_users" and "parse_amount" in one["title"]
    ]
    assert asked["ground_truth"]["items"] == [
        "shop/basket.py: read_basket",
        "shop/cli.py: run_shop",
        "shop/orders.py: Orders.again",
        "shop/orders.py: Orders.place_order",
        "shop/views.py: show_total",
    ]
    assert asked["difficulty"] == "unknown"
    assert asked["derived"] | {"grep_f1": 0} == {
        "kind": "all_users", "tier": "syntax", "checked": True, "control_group": False,
        "grep_f1": 0, "repository": "shop",
    }  # fmt: skip
    assert "place_order" not in asked["task_prompt"]


def test_questions_in_two_languages_share_a_project(tmp_path: Path, script: Script) -> None:
    go = {"go.mod": "module shop\n", "sum/sum.go": "package sum\n\nfunc AddPrices() {}\n"}
    go["pad/pad.go"] = "package pad\n" + "".join(f"\nfunc Pad{number:03}() {{}}\n" for number in range(100))
    for name in "abcd":
        upper = name.upper()
        go[f"{name}/x.go"] = f'package {name}\n\nimport "shop/sum"\n\nfunc Use{upper}Sum() {{ sum.AddPrices() }}\n'
        go[f"use{name}/x.go"] = (
            f'package x\n\nimport "shop/{name}"\n\nfunc Call{upper}() {{ {name}.Use{upper}Sum() }}\n'
        )
    commit(tmp_path / "shop", CHAIN | PADDING | go)
    script("derive_scenarios.py", tmp_path / "shop", "--output_dir", tmp_path / "data")
    asked = scenarios(tmp_path / "data")
    assert {one["language"] for one in asked} == {"go", "python"}
    assert {one["project_id"] for one in asked} == {"shop_001"}
    assert [path.name for path in (tmp_path / "data/generated").iterdir()] == ["shop_001"]


def test_extract_select_generate_and_smoke_test_take_them_as_they_are(
    shop: Path, tmp_path: Path, script: Script
) -> None:
    data, dataset, tasks = tmp_path / "data", tmp_path / "d.jsonl", tmp_path / "tasks"
    claim = "A comparison of these tasks speaks for this repository alone; to speak for others"
    assert claim in script("derive_scenarios.py", shop, "--output_dir", data).stdout
    assert script("extract_dataset.py", "--data_dir", data, "--output", dataset).returncode == 0
    few = ("--min_context_length", 100, "--output", tmp_path / "s.json")
    assert claim in script("select_tasks.py", "--dataset_path", dataset, *few).stdout
    chosen = json.loads((tmp_path / "s.json").read_bytes())["tasks"]
    assert {task["difficulty"] for task in chosen} == {"unknown"}
    made = ("--data_dir", data, "--dataset_path", dataset, "--output_dir", tasks)
    done = script("run_adapter.py", *made, "--mirror_repos", tmp_path / "repos")
    assert (done.returncode, done.stderr.count("not written")) == (0, 0)
    assert script("smoke_test.py", "--local", tasks).returncode == 0
    assert {TaskFolder.read(task).toml.metadata.repository for task in tasks.glob("shop_*")} == {"shop"}
    for task in tasks.glob("shop_*"):
        seen = b"\0".join(
            content for name, content in tree(task).items() if not name.startswith(("tests/", "solution/"))
        )
        items = json.loads((task / "tests/ground_truth.json").read_bytes())["key"]["items"]
        assert not any(item.encode() in seen for item in items if ": " in item)
        assert not list((task / "environment").rglob(".git"))
        assert 'verifier = "exact"' in (task / "task.toml").read_text()


def test_the_same_commit_gives_the_same_bytes(shop: Path, tmp_path: Path, script: Script) -> None:
    for name in ("one", "two", "two"):
        assert script("derive_scenarios.py", shop, "--output_dir", tmp_path / name, "--quiet").returncode == 0
    assert tree(tmp_path / "one") == tree(tmp_path / "two")


def test_a_fix_becomes_a_question_about_the_tree_before_it(shop: Path, tmp_path: Path, script: Script) -> None:
    fixed = {
        "shop/basket.py": FIXED["shop/basket.py"],
        "shop/cli.py": CHAIN["shop/cli.py"].replace("for one in ()", "for one in [None]"),
    }
    parent = git(shop, "rev-parse", "HEAD")
    commit(shop, fixed, f"{FIX}, #12\n\nSigned-off-by: a <a@b>")
    commit(shop, {"shop/cli.py": "def run_shop(): ...\n"}, "Update documentation of everything that is there")
    script("derive_scenarios.py", shop, "--output_dir", tmp_path / "data", "--quiet")
    (asked,) = [one for one in scenarios(tmp_path / "data") if one["derived"]["tier"] == "history"]
    assert asked["ground_truth"]["items"] == ["shop/basket.py: read_basket", "shop/cli.py: run_shop"]
    assert asked["ground_truth"]["measure"] == "f2"
    assert f"> {FIX}" in asked["task_prompt"]
    assert "#12" not in asked["task_prompt"]
    project = tmp_path / "data" / "generated" / asked["id"].partition("_agreement")[0]
    assert json.loads((project / "project_metadata.json").read_bytes())["commit"] == parent
    assert (project / "shop/shop/basket.py").read_text() == CHAIN["shop/basket.py"]


@pytest.mark.parametrize(
    "unchanged",
    [
        'def place_order(self, text):\n        """Place it."""',
        "def place_order(self, text):\n        # Read it.",
        "def place_order(self, text):  # Read it.",
        "def place_order(\n        self, text\n    ):",
        "def first(self): ...\n\n    def place_order(self, text):",
    ],
)
def test_a_function_changes_with_its_code_not_with_comments_blanks_or_its_neighbours(
    unchanged: str, shop: Path, tmp_path: Path, script: Script
) -> None:
    orders = CHAIN["shop/orders.py"].replace("def place_order(self, text):", unchanged)
    commit(shop, FIXED | {"shop/orders.py": orders}, FIX)
    script("derive_scenarios.py", shop, "--output_dir", tmp_path / "data", "--quiet")
    (asked,) = [one for one in scenarios(tmp_path / "data") if one["derived"]["tier"] == "history"]
    assert asked["ground_truth"]["items"] == ["shop/amounts.py: parse_amount", "shop/basket.py: read_basket"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("    def place_order(", "    @reads_once\n    def place_order("),
        ("    def place_order(", "    async def place_order("),
        ("            return read_basket(", "        return read_basket("),
        ('print("read;")', 'print("read; ")'),
        ("2 * len", "2 // len"),
    ],
    ids=[
        "a decorator",
        "a modifier",
        "indentation",
        "a blank in a string",
        "an operator that begins a comment elsewhere",
    ],
)
def test_a_function_changes_with_all_of_its_code(
    before: str, after: str, shop: Path, tmp_path: Path, script: Script
) -> None:
    body = (
        '        print("read;")\n        2 * len(text)\n        for one in text:\n            return read_basket(one)\n'
    )
    orders = CHAIN["shop/orders.py"].replace("        return read_basket(text)\n", body)
    commit(shop, {"shop/orders.py": orders}, "Start")
    commit(shop, FIXED | {"shop/orders.py": orders.replace(before, after)}, f"{FIX} in a place")
    script("derive_scenarios.py", shop, "--output_dir", tmp_path / "data", "--quiet")
    (asked,) = [one for one in scenarios(tmp_path / "data") if one["derived"]["tier"] == "history"]
    assert asked["ground_truth"]["items"] == [
        "shop/amounts.py: parse_amount",
        "shop/basket.py: read_basket",
        "shop/orders.py: Orders.place_order",
    ]


TWO = {"rust": "\npub fn read_one() -> u8 {{ {0} }}\npub fn read_two() -> u8 {{ {0} }}\n",
       "c": "\nint read_one(void) {{ return {0}; }}\nint read_two(void) {{ return {0}; }}\n",
       "javascript": "\nfunction readOne() {{ return {0} }}\nfunction readTwo() {{ return {0} }}\n",
       "python": "\ndef read_one():\n    return {0}\n\ndef read_two():\n    return {0}\n"}  # fmt: skip
SUFFIX = {"rust": "rs", "c": "c", "javascript": "js", "python": "py"}
"""Two functions that change with the number they return."""


def of_history(folder: Path, script: Script, language: str, before: str, after: str) -> tuple[list[str], str]:
    """Return the names in the key of a commit that changes TWO and this code as well, and what the command printed."""
    name = f"shop.{SUFFIX[language]}"
    commit(folder / "repository", {name: before + TWO[language].format(1)})
    commit(folder / "repository", {name: after + TWO[language].format(2)}, FIX)
    done = script("derive_scenarios.py", folder / "repository", "--output_dir", folder / "data")
    asked = scenarios(folder / "data") if (folder / "data").exists() else []
    return [
        item.partition(": ")[2] for one in asked for item in one["ground_truth"]["items"]
    ], done.stdout + done.stderr


ATTRIBUTE = '#[deprecated(\n    note = "{0}"\n)]\npub fn read_all() -> u8 {{ 3 }}\n'
TWINS = "class First {{\n  readAll() {{ return 1 }}\n}}\nclass Second {{\n  readAll() {{ return {0} }}\n}}\n"
MACRO = "int read_all(int one) {{\n#define MORE(one) (one + \\\n{0}    1)\n    return MORE(one);\n}}\n"
VARIANT = "#endif\nint read_all(void) { return 3; }\n"


@pytest.mark.parametrize(
    ("language", "before", "after", "more"),
    [
        ("rust", ATTRIBUTE.format("soon"), ATTRIBUTE.format("later"), ["read_all"]),
        ("rust", "#[inline] pub fn read_all() {}\n", "#[cold] pub fn read_all() {}\n", ["read_all"]),
        ("rust", "\n\npub fn read_all() {}\n", "\n\n#[inline]\npub fn read_all() {}\n", ["read_all"]),
        ("rust", "#[inline]\n// Fast.\npub fn read_all() {}\n", "// Fast.\npub fn read_all() {}\n", ["read_all"]),
        ("javascript", TWINS.format(1), TWINS.format(2), ["Second.readAll"]),
        ("c", MACRO.format(""), MACRO.format("    "), []),
        ("c", "#ifdef OLD\n" + VARIANT, "#ifdef OLD\nint read_all(void) { return 4; }\n#else\n" + VARIANT, []),
    ],
    ids=[
        "an attribute of several lines",
        "an attribute on the same line",
        "a new attribute behind a blank line",
        "an attribute above a comment",
        "one of two twins",
        "the blanks in a macro",
        "a further variant",
    ],
)
def test_a_key_has_what_changed_whatever_stands_beside_it(
    language: str, before: str, after: str, more: list[str], tmp_path: Path, script: Script
) -> None:
    names, said = of_history(tmp_path, script, language, before, after)
    two = ["readOne", "readTwo"] if language == "javascript" else ["read_one", "read_two"]
    assert sorted(names) == sorted([*more, *two]), said


NAMELESS = [
    ("javascript", "var res = {}\nres.set =\nres.header = function readAll() { return %d }\n"),
    ("javascript", "var all = { read() { return %d } }\n"),
    ("javascript", "function on() {}\non('read', () => %d)\n"),
    ("python", "read_all = sorted([], key=lambda one: %d)\n"),
]


@pytest.mark.parametrize(("language", "code"), NAMELESS, ids=["two names", "a member", "a callback", "a lambda"])
def test_no_question_where_a_function_changed_that_no_item_names(
    language: str, code: str, tmp_path: Path, script: Script
) -> None:
    names, said = of_history(tmp_path, script, language, code % 1, code % 2)
    assert not names
    assert "a function without a name changed, too (1)" in said


def test_tests_beside_the_code_may_change_with_it(tmp_path: Path, script: Script) -> None:
    tests = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn reads_all() { assert_eq!(1, %d) }\n}\n"
    names, said = of_history(tmp_path, script, "rust", tests % 1, tests % 2)
    assert names == ["read_one", "read_two"], said


def test_generated_and_vendored_files_are_in_no_key(shop: Path, tmp_path: Path, script: Script) -> None:
    vendored = {"vendor/shop/basket.py": CHAIN["shop/basket.py"]}
    commit(shop, vendored, "Start")
    commit(shop, FIXED | {"vendor/shop/basket.py": FIXED["shop/basket.py"]}, FIX)
    script("derive_scenarios.py", shop, "--output_dir", tmp_path / "data", "--quiet")
    (asked,) = [one for one in scenarios(tmp_path / "data") if one["derived"]["tier"] == "history"]
    assert not [item for item in asked["ground_truth"]["items"] if item.startswith("vendor/")]
    notice = "# Code generated by a tool. DO NOT EDIT.\n"
    generated = {name: notice + text.replace("float(text)", "float(text or 1)") for name, text in CHAIN.items()}
    commit(shop, {"shop/made.py": notice + CHAIN["shop/amounts.py"]}, "Start")
    commit(shop, {"shop/made.py": generated["shop/amounts.py"], "shop/basket.py": CHAIN["shop/basket.py"]}, FIX)
    done = script("derive_scenarios.py", shop, "--output_dir", tmp_path / "data")
    assert "in files that questions leave out (1)" in done.stdout, done.stdout


def test_a_function_that_is_added_after_another_does_not_change_that_one(
    shop: Path, tmp_path: Path, script: Script
) -> None:
    fixed = {
        "shop/amounts.py": CHAIN["shop/amounts.py"] + "\n\ndef added():\n    return 2\n",
        "shop/basket.py": FIXED["shop/basket.py"],
        "shop/cli.py": CHAIN["shop/cli.py"].replace("for one in ()", "for one in [None]"),
        "shop/orders.py": CHAIN["shop/orders.py"].replace("(text)\n\n", "(text)\n\n    def new(self): ...\n\n"),
    }
    commit(shop, fixed, FIX)
    script("derive_scenarios.py", shop, "--output_dir", tmp_path / "data", "--quiet")
    (asked,) = [one for one in scenarios(tmp_path / "data") if one["derived"]["tier"] == "history"]
    assert asked["ground_truth"]["items"] == ["shop/basket.py: read_basket", "shop/cli.py: run_shop"]


@pytest.mark.parametrize(
    "subject",
    [
        "Introduce micro-optimizations",
        "Fix all of the invalid links",
        "Java style followups, part two",
        "Use a HOF here",
    ],
)
def test_a_message_that_names_neither_behaviour_nor_place_is_no_question(
    subject: str, shop: Path, tmp_path: Path, script: Script
) -> None:
    commit(shop, FIXED, f"{subject}\n\nSeveral places get a little better by this change.")
    script("derive_scenarios.py", shop, "--output_dir", tmp_path / "data", "--quiet")
    assert not [one for one in scenarios(tmp_path / "data") if one["derived"]["tier"] == "history"]


def test_a_message_has_to_lead_to_every_function_that_changed(shop: Path, tmp_path: Path, script: Script) -> None:
    beside = {"shop/rest_0.py": PADDING["shop/rest_0.py"].replace("return 3", "return 30")}
    commit(shop, FIXED | beside, FIX)
    done = script("derive_scenarios.py", shop, "--output_dir", tmp_path / "data")
    assert not [one for one in scenarios(tmp_path / "data") if one["derived"]["tier"] == "history"]
    assert "the message does not lead to the answer (1)" in done.stdout, done.stdout


def test_a_subject_may_join_two_things(shop: Path, tmp_path: Path, script: Script) -> None:
    commit(shop, FIXED, "Let somebody read nothing and take the amount for zero")
    script("derive_scenarios.py", shop, "--output_dir", tmp_path / "data", "--quiet")
    assert [one for one in scenarios(tmp_path / "data") if one["derived"]["tier"] == "history"]


@pytest.mark.parametrize(("depth", "questions"), [(1, 0), (2, 1)])
def test_a_shallow_clone_is_looked_at_as_far_as_it_goes(
    depth: int, questions: int, shop: Path, tmp_path: Path, script: Script
) -> None:
    commit(shop, FIXED, FIX)
    git(tmp_path, "clone", "-q", "--depth", str(depth), f"file://{shop}", "clone")
    done = script("derive_scenarios.py", tmp_path / "clone", "--output_dir", tmp_path / "data", "--quiet")
    assert (done.returncode, done.stderr.count("\n")) == (0, 1), done.stderr
    assert "the clone is shallow: the older history is not read" in done.stderr
    assert sum(one["derived"]["tier"] == "history" for one in scenarios(tmp_path / "data")) == questions


def test_a_clone_without_its_history_can_do_without(shop: Path, tmp_path: Path, script: Script) -> None:
    commit(shop, FIXED, FIX)
    git(shop, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--filter=blob:none", f"file://{shop}", "clone")
    shop.rename(tmp_path / "away")
    done = script("derive_scenarios.py", tmp_path / "clone", "--output_dir", tmp_path / "data", "--quiet")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    few = ("--history", 0, "--output_dir", tmp_path / "data", "--quiet")
    assert script("derive_scenarios.py", tmp_path / "clone", *few).returncode == 0


def test_questions_about_other_repositories_are_not_replaced(shop: Path, tmp_path: Path, script: Script) -> None:
    shutil.copytree(shop, tmp_path / "other")
    both = tmp_path / "both"
    assert script("derive_scenarios.py", shop, "--output_dir", both).returncode == 0
    before = tree(both)
    done = script("derive_scenarios.py", tmp_path / "other", "--output_dir", both)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert f"{both}: holds the questions about shop, which would be lost" in done.stderr
    assert tree(both) == before
    assert script("derive_scenarios.py", tmp_path / "other", shop, "--output_dir", both).returncode == 0


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"a.py": "def f(): ...\n", "b.zig": "x", "c.zig": "x"}, "no question: python: 1 files"),
        ({"b.zig": "x", "c.zig": "x"}, "no question: no source file of a known language (2 .zig)"),
        ({}, "no question: it holds no file"),
    ],
)
def test_a_repository_without_a_question_says_why_and_exits_1(
    files: dict[str, str], said: str, tmp_path: Path, script: Script
) -> None:
    commit(tmp_path / "few", files)
    done = script("derive_scenarios.py", tmp_path / "few", "--output_dir", tmp_path / "data")
    assert (done.returncode, done.stderr.count("no question")) == (1, 1)
    assert f"few: {said}" in done.stderr
    assert not (tmp_path / "data").exists()


def bad(tmp_path: Path, what: str) -> list[object]:
    """Return the arguments of a call that cannot work."""
    folder = tmp_path / "repository"
    if what == "no folder":
        return [folder]
    if what == "no repository":
        folder.mkdir()
        return [folder]
    if what == "no commit":
        folder.mkdir()
        git(folder, "init", "-q")
        return [folder]
    commit(folder, CHAIN)
    if what == "no such commit":
        return [folder, "--revision", "nowhere"]
    assert what == "a folder of somebody else's"
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "precious").touch()
    return [folder]


BAD = ("no folder", "no repository", "no commit", "no such commit", "a folder of somebody else's")


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_one_line_and_nothing_half_written(what: str, tmp_path: Path, script: Script) -> None:
    arguments = bad(tmp_path, what)
    before = sorted(tmp_path.iterdir())
    done = script("derive_scenarios.py", *arguments, "--output_dir", tmp_path / "data", "--quiet")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert sorted(tmp_path.iterdir()) == before


def test_odd_files_are_counted_and_do_no_harm(tmp_path: Path, script: Script) -> None:
    folder = tmp_path / "shop"
    (folder / "shop").mkdir(parents=True)
    (folder / "shop" / "link.py").symlink_to("amounts.py")
    (folder / "shop" / "away.py").symlink_to("/etc/passwd")
    odd: dict[str, str | bytes] = {
        "shop/large.py": "x = 1\n" * 9_000_000,
        "shop/pointer.py": "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n",
        "shop/binary.py": b"\0\1\2",
        "shop/fenced.py": "```python\nx = 1\n```\n",
        "vendor/lib.py": "def other_amount(): ...\n",
        "tests/test_all.py": "from shop.amounts import parse_amount\ndef test(): parse_amount(1)\n",
    }
    commit(folder, CHAIN | PADDING | odd)
    git(folder, "update-index", "--add", "--cacheinfo", f"160000,{git(folder, 'rev-parse', 'HEAD')},module")
    git(folder, "commit", "-q", "-m", "A module")
    done = script("derive_scenarios.py", folder, "--output_dir", tmp_path / "data")
    assert done.returncode == 0, done.stderr
    for said in (
        "links (2)",
        "tests (1)",
        "vendored (1)",
        "LFS pointers (1)",
        "not text (1)",
        "with parse errors (1)",
        "too large (1)",
    ):
        assert said in done.stdout


def test_it_says_what_was_asked_and_what_was_left_out(shop: Path, tmp_path: Path, script: Script) -> None:
    done = script("derive_scenarios.py", shop, "--output_dir", tmp_path / "data")
    assert re.search(r"^By kind: all_users 1$", done.stdout, re.MULTILINE)
    assert re.search(
        r"^shop: python: 17 files, 116 symbols\nshop:   symbols left out: another question has the same target \(2\)",
        done.stdout,
        re.MULTILINE,
    )


def test_interrupted_it_leaves_nothing(shop: Path, tmp_path: Path) -> None:
    import signal
    import sys
    import time

    from tests.conftest import REPOSITORY, default_signals

    command = [
        sys.executable,
        str(REPOSITORY / "derive_scenarios.py"),
        str(shop),
        "--output_dir",
        str(tmp_path / "data"),
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=default_signals)
    while not (tmp_path / ".building-data").exists() and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode in (0, 130)
    assert "Traceback" not in told
    assert not (tmp_path / ".building-data").exists()
    assert (tmp_path / "data").exists() == (process.returncode == 0)

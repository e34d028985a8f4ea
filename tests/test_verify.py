"""templates/tests/verify.py and test.sh: what earns credit, what does not, and what no answer can do to them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.catalog import TEMPLATES
from pipeline.grading import Scoring, verifier

verify = verifier()

FILES = [
    "src/cache/store.py",
    "src/cache/index.py",
    "src/web/index.py",
    "docs/api guide.md",
    "README.md",
    "src/a.c",
    "src/PriceCache.java",
]
TRUTH = (
    "`src/cache/store.py` holds `evict_expired`, which walks `segment_ring` backwards; a segment that was promoted "
    "during the walk is visited twice and its tombstone is freed twice. Guard promotion with `generation_counter`.\n\n"
    "```python\nif segment.generation_counter != self.generation_counter:\n    segment_ring.skip(tombstone_ttl)\n```\n"
)
PROMPT = "Why does the cache crash under load? Python "
KEY: dict[str, Any] = {
    "scoring": Scoring().model_dump(),
    "length_words": len(TRUTH.split()),
    "given": sorted(verify.words(PROMPT)),
    "words": sorted(verify.words(TRUTH) - verify.words(PROMPT)),
    "symbols": sorted(verify.symbols(TRUTH)),
    "code_symbols": sorted(verify.symbols(verify.fenced_code(TRUTH))),
    "files": FILES,
    "roots": ["store"],
    "given_files": [],
    "relevant_files": ["src/cache/store.py"],
}


def reward(answer: str) -> float:
    return float(verify.score(answer, KEY)["reward"])


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("see src/cache/store.py", {"src/cache/store.py"}),
        ("(`store.py`)", {"src/cache/store.py"}),
        ("store.py:42, README.md.", {"src/cache/store.py", "README.md"}),
        ("in /app/project/src/web/index.py", {"src/web/index.py"}),
        ("./src/web/index.py and cache/index.py", {"src/web/index.py", "src/cache/index.py"}),
        (r"src\web\index.py", {"src/web/index.py"}),
        ("store/src/a.c of the root folder", {"src/a.c"}),
        ("a.c/h", {"src/a.c"}),
        ("the docs/api guide.md says", {"docs/api guide.md"}),
        ("index.py is ambiguous", set()),
        ("mystore.py, store.pyc, store.py2, xREADME.md, data.a.cc", set()),
        ("other/src/cache/store.py", set()),
        ("store", set()),
        ("PriceCache is a base name that is an identifier", {"src/PriceCache.java"}),
    ],
)
def test_files_count_by_path_unique_ending_or_unique_name(text: str, named: set[str]) -> None:
    assert verify.mentioned_files(text, FILES, ["store"]) == named


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a\n```\nx\n```\nb", "x"),
        ("```python\nx\n```\n~~~\ny\n~~~", "x\ny"),
        ("````\n```\nx\n````\nb", "```\nx"),
        ("- item\n  ```\n  x\n  ```", "  x"),
        ("```\nopen\nto the end", "open\nto the end"),
        ("`inline`", ""),
    ],
)
def test_code_is_what_stands_in_fences(text: str, code: str) -> None:
    assert verify.fenced_code(text) == code


def test_identifiers_count_whole_and_by_their_parts() -> None:
    text = "evict_expired segmentRing HTTPServer2"
    assert verify.symbols(text) == {"evict_expired", "segmentring", "httpserver2"}
    assert verify.words(text) == {"evict", "expir", "segment", "ring", "http", "serv"}


def test_inflected_words_are_one_word() -> None:
    assert len(verify.words("promote promoted promotes promoting promotion")) == 1


def test_everyday_words_are_no_knowledge() -> None:
    assert verify.words("The function should then return the value to the caller of this module.") == set()


def test_truth_is_worth_one_and_more_than_its_parts() -> None:
    half = TRUTH[: len(TRUTH) // 2]
    assert reward(TRUTH) == 1.0 > reward(half) > reward("promotion") >= reward("") == 0.0


def test_words_that_the_agent_was_given_earn_nothing() -> None:
    assert reward(PROMPT * 20) == 0.0


def test_naming_every_file_earns_nothing() -> None:
    assert verify.score(" ".join(FILES), KEY)["components"]["file_references"] == 0.0


def test_fence_around_unrelated_code_earns_nothing() -> None:
    code = "\n".join(f"other_name_{number} = some_call_{number}(x)" for number in range(50))
    assert verify.score(f"```\n{code}\n```", KEY)["components"]["code_blocks"] == 0.0


def test_length_earns_nothing_without_overlap() -> None:
    assert verify.score("lorem ipsum dolor " * 200, KEY)["components"]["length_score"] == 0.0


def test_component_that_the_truth_cannot_ask_for_gives_its_weight_to_the_words() -> None:
    metrics = verify.score(TRUTH, {**KEY, "relevant_files": [], "code_symbols": []})
    assert metrics["reward"] == 1.0
    assert metrics["weights"] == pytest.approx({"keyword_overlap": 0.9, "length_score": 0.1})


def test_metrics_say_why() -> None:
    metrics = verify.score("`evict_expired` in README.md", KEY)
    assert "evict_expired" in metrics["matched_keywords"] and "tombstone" in " ".join(metrics["missed_keywords"])
    assert metrics["missed_files"] == ["src/cache/store.py"] and metrics["other_files"] == ["README.md"]
    assert metrics["scoring_version"] == verify.VERSION


@settings(max_examples=300)
@given(st.one_of(st.text(), st.lists(st.sampled_from([*TRUTH.split(), "```", "\n", *FILES])).map(" ".join)))
def test_reward_is_between_0_and_1_for_any_text(answer: str) -> None:
    assert 0.0 <= reward(answer) <= 1.0


@given(st.binary())
def test_any_bytes_are_scored(content: bytes) -> None:
    assert 0.0 <= reward(content.decode("utf-8", "replace")) <= 1.0


@pytest.mark.parametrize(
    "unit",
    [
        "a/",
        "A",
        "aA",
        "\x1b[",
        "\x1b[1",
        "```\n",
        " ",
        "- ",
        "\n",
        "_",
        ".",
        "1",
        ">",
        "~~~",
        "a_",
        "x.py ",
        "#",
        "é",
        "\0",
    ],
)
def test_no_answer_can_blow_up_the_scoring(unit: str) -> None:
    answer = unit * (verify.MAX_ANSWER_BYTES // len(unit))
    started = time.process_time()
    reward(answer)
    # Linear work takes some 50 ms; quadratic work over a quarter of a million characters takes minutes.
    assert time.process_time() - started < verify.TIME_LIMIT_SECONDS


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder laid out like a task's container after the agent is gone."""
    root = tmp_path / "root"
    shutil.copytree(TEMPLATES / "tests", root / "tests")
    (root / "tests" / "ground_truth.json").write_text(json.dumps({"ground_truth": TRUTH, "key": KEY}))
    (root / "app").mkdir()
    (root / "app" / "solution.md").write_text(TRUTH)
    return root


def run_tests(root: Path, **environment: str) -> float:
    subprocess.run(
        ["bash", root / "tests" / "test.sh", root],
        env={**os.environ, **environment},
        capture_output=True,
        timeout=20,
        check=True,
    )
    value = json.loads((root / "logs" / "verifier" / "reward.json").read_text())
    assert list(value) == ["reward"]
    return float(value["reward"])


def test_reward_and_metrics_are_written(root: Path) -> None:
    assert run_tests(root) == 1.0
    assert json.loads((root / "logs" / "verifier" / "metrics.json").read_text())["reward"] == 1.0
    assert sorted(path.name for path in (root / "logs" / "verifier").iterdir()) == ["metrics.json", "reward.json"]


def replace_answer(make: Callable[[Path], object]) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        answer = root / "app" / "solution.md"
        answer.unlink()
        make(answer)

    return change


def sparse(path: Path) -> None:
    with path.open("wb") as stream:
        stream.truncate(2 << 30)


NO_ANSWER = {
    "missing": lambda path: None,
    "link": lambda path: path.symlink_to(path.parent.parent / "tests" / "ground_truth.json"),
    "dangling link": lambda path: path.symlink_to("nowhere"),
    "pipe": lambda path: os.mkfifo(path),
    "folder": lambda path: path.mkdir(),
    "2 GB of nothing": sparse,
    "NULs": lambda path: path.write_bytes(b"\0" * 1000),
}


@pytest.mark.parametrize("kind", NO_ANSWER)
def test_what_is_no_answer_scores_zero(root: Path, kind: str) -> None:
    replace_answer(NO_ANSWER[kind])(root)
    assert run_tests(root) == 0.0


TRUE_ANSWER = {
    "terminal colours": lambda text: "\x1b[31;1m" + text.replace(" ", " \x1b[0m\x1b[4m"),
    "NULs between words": lambda text: text.replace(" ", " \0 "),
    "invalid UTF-8": lambda text: text,
    "Windows line ends": lambda text: text.replace("\n", "\r\n"),
}


@pytest.mark.parametrize("kind", TRUE_ANSWER)
def test_odd_bytes_do_not_cost_the_true_score(root: Path, kind: str) -> None:
    content = TRUE_ANSWER[kind](TRUTH).encode() + (b" \xff\xfe" if kind == "invalid UTF-8" else b"")
    (root / "app" / "solution.md").write_bytes(content)
    assert run_tests(root) > 0.95


PLANTED = {
    "reward": lambda logs: (logs / "reward.json").write_text('{"reward": 1.0}'),
    "reward as text": lambda logs: (logs / "reward.txt").write_text("1"),
    "link to a reward": lambda logs: (logs / "reward.json").symlink_to(logs.parent / "planted.json"),
    "folder": lambda logs: (logs / "reward.json").mkdir(),
    "folder where the parts go": lambda logs: (logs / "reward.json.part").mkdir(),
    "full folder": lambda logs: (logs / "metrics.json" / "x").mkdir(parents=True),
}


@pytest.mark.parametrize("kind", PLANTED)
def test_planted_rewards_lose(root: Path, kind: str) -> None:
    logs = root / "logs" / "verifier"
    logs.mkdir(parents=True)
    (logs.parent / "planted.json").write_text('{"reward": 1.0}')
    PLANTED[kind](logs)
    (root / "app" / "solution.md").unlink()
    assert run_tests(root) == 0.0
    assert sorted(path.name for path in logs.iterdir()) == ["metrics.json", "reward.json"]


def test_reward_is_zero_when_the_verifier_cannot_run(root: Path) -> None:
    (root / "tests" / "ground_truth.json").write_text("{")
    assert run_tests(root) == 0.0


def test_planted_modules_and_variables_are_not_read(root: Path, tmp_path: Path) -> None:
    evil = tmp_path / "evil"
    evil.mkdir()
    for name in ("sitecustomize.py", "usercustomize.py", "json.py", "re.py", "os.py", "start.py"):
        (evil / name).write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nraise SystemExit(0)\n")
    (evil / "python3").write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\n")
    (evil / "python3").chmod(0o755)
    (root / "app" / "solution.md").unlink()
    (root / "app" / "solution.md").write_text("promotion")
    score = run_tests(
        root,
        PYTHONPATH=str(evil), PYTHONHOME=str(evil), PYTHONSTARTUP=str(evil / "start.py"), PYTHONUSERBASE=str(evil),
        PYTHONINSPECT="1", BASH_ENV=str(evil / "start.py"), PATH=f"{evil}:{os.environ['PATH']}",
    )  # fmt: skip
    assert 0.0 <= score < 0.2 and not (tmp_path / "ran").exists()


def interpreters() -> list[str]:
    """Every Python 3.9 to 3.13 that this machine has."""
    found = {}
    for minor in range(9, 14):
        places = [
            shutil.which(f"python3.{minor}"),
            *map(str, Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python3")),
        ]
        if working := [path for path in places if path and "shims" not in path]:
            found[minor] = working[0]
    return list(found.values())


@pytest.mark.parametrize("python", interpreters())
@pytest.mark.parametrize("hash_seed", ["0", "12345"])
def test_every_python_and_hash_seed_gives_the_same_metrics(root: Path, python: str, hash_seed: str) -> None:
    (root / "app" / "solution.md").write_text(TRUTH[:200] + " README.md ünïcödé 文字 `generation_counter` ```")
    expected = verify.score((root / "app" / "solution.md").read_text(), KEY)
    (root / "logs" / "verifier").mkdir(parents=True)
    command = [python, "-S", str(root / "tests" / "verify.py"), str(root)]
    subprocess.run(command, env={"PYTHONHASHSEED": hash_seed}, check=True, capture_output=True)
    assert (root / "logs" / "verifier" / "metrics.json").read_text() == json.dumps(expected, indent=1) + "\n"

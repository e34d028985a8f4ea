"""The verifier and test.sh: what earns credit, what does not, and what no answer can do to them."""

from __future__ import annotations

import json
import math
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

from adapter import LoCoBenchTask
from locobench import reading
from locobench.generate.make import grader_files
from locobench.reading import CodeBase
from locobench.scoring import published, verify
from locobench.scoring.code_index import CodeIndex
from locobench.scoring.grading import Grading, GradingError, grade_as_published, grade_key
from locobench.shared.installation import REPOSITORY

STORE = """
class SegmentStore:
    def evict_expired(self, clock_now):
        for segment in self.segment_ring.backwards():
            if segment.expires_at < clock_now:
                self.free_tombstone(segment)

    def promote_segment(self, segment):
        segment.generation_counter += 1
        self.segment_ring.move_front(segment)

    def free_tombstone(self, segment):
        self.tombstone_list.remove(segment)
"""
CODE = {
    "src/cache/store.py": STORE,
    "src/cache/index.py": "def lookup_key(key_hash):\n    return bucket_table[key_hash % bucket_count]\n",
    "src/web/index.py": "def render_page(request_path):\n    return page_template.fill(request_path)\n",
    "docs/api guide.md": "# Guide\n\nCall render_page with the path that was asked for.\n",
    "README.md": "A cache with a small web front.\n",
    "src/a.c": "int main_loop(void) { return poll_events(); }\n",
    "src/PriceCache.java": "class PriceCache { long lastRefresh; void refreshAll() { lastRefresh = now(); } }\n",
}
FILES = list(CODE)
TRUTH = (
    "`src/cache/store.py` holds `evict_expired`, which walks `segment_ring` backwards; a segment that was promoted "
    "during the walk is visited twice and its tombstone freed twice by `free_tombstone`. Guard `promote_segment` with "
    "`generation_counter`, which every promotion raises, so that the walk knows a segment it has seen.\n\n"
    "```python\nif segment.generation_counter != self.generation_counter:\n    segment_ring.skip(tombstone_ttl)\n```\n"
)
PROMPT = "Why does the cache crash under load? Find out what goes wrong when entries expire."


def make_task(truth: Any = TRUTH, prompt: str = PROMPT) -> LoCoBenchTask:
    return LoCoBenchTask.from_record(
        {
            "id": "python_api_cache_easy_001_bug_investigation_easy_01", "source": "locobench",
            "authors": ["Salesforce AI Research"], "language": "python",
            "project_id": "python_api_cache_easy_001", "task_category": "bug_investigation", "difficulty": "easy",
            "title": "Crash", "description": "The cache crashes.", "context_files": FILES, "context_length": 1000,
            "files_count": len(FILES), "task_prompt": prompt, "ground_truth": truth,
        }
    )  # fmt: skip


def grading(truth: Any = TRUTH, code: dict[str, str] = CODE, prompt: str = PROMPT) -> Grading:
    """Grade as the adapter does."""
    return grade_key(
        make_task(truth, prompt),
        CodeIndex(code, ((path, text.encode()) for path, text in code.items()), "store"),
        context_files=FILES,
        instruction="\n".join((prompt, *code)),
    )


KEY, ORACLE = grading().key, grading().oracle


def reward(answer: str, key: dict[str, Any] = KEY) -> float:
    return float(verify.score(answer, key)["reward"])


def seen(answer: str) -> dict[str, Any]:
    return verify.measure(answer, KEY, CodeBase.read(KEY))


@pytest.mark.parametrize(
    "name",
    ["`evict_expired`", "`evictExpired`", "`EVICT_EXPIRED()`", "evict_expired", r"evict\_expired", "_evict_expired_",
     "**evict_expired**", "<code>evict_expired</code>", "`self.evict_expired(clock)`"],
)  # fmt: skip
def test_an_identifier_counts_however_it_is_written(name: str) -> None:
    found = seen(f"Expiry walks the ring in {name}, see src/cache/store.py, from its far end.")
    assert "evictexpired" in found["identifiers"]
    assert found["files"].keys() == {"src/cache/store.py"}
    assert not found["invented_identifiers"]


@pytest.mark.parametrize(
    "path",
    ["`src/cache/store.py`", "src/cache/store.py#L3-L9", "src\\cache\\store.py", "./src/cache/store.py:12",
     "/app/project/src/cache/store.py", "[the store](src/cache/store.py)", "store.py"],
)  # fmt: skip
def test_a_file_counts_however_its_path_is_written(path: str) -> None:
    assert seen(f"Expiry walks the ring from its far end in `evict_expired`, {path}.")["files"]


def test_a_file_counts_only_with_an_identifier_that_it_has() -> None:
    found = seen("The page is made by `render_page`, which lives in `src/cache/store.py` as far as we know.")
    assert found["identifiers"].keys() == {"renderpage"}
    assert not found["files"]


def test_a_name_counts_by_what_is_said_about_it_and_by_the_files_that_have_it() -> None:
    """Worked out by hand: eight words of its own and two names in one file each, one of a single part."""
    found = seen("Only here: `evict_expired` in store.py walks it backwards and calls `remove`.")
    said = 1 - math.exp(-8 / 2)
    assert found["words"] == 8
    assert found["identifiers"] == pytest.approx({"evictexpired": said, "remove": 0.5 * said})
    assert found["found"] == pytest.approx(1.5 * said)
    known = 1 - math.exp(-1.5 * said / 5)
    assert found["components"] == pytest.approx(
        {
            "keyword_overlap": known,
            "file_references": known * (1 - math.exp(-said / 3)),
            "code_blocks": 0.0,
            "length_score": known * 0.08,
        }
    )


def test_the_example_of_the_docs_is_right() -> None:
    found = seen("`evict_expired` in `store.py` walks `segment_ring` from its far end; I would add a `RingGuard`.")
    assert (found["words"], found["invented_identifiers"]) == (10, [])
    assert found["found"] == pytest.approx(1.93, abs=0.005)
    assert found["components"]["keyword_overlap"] == pytest.approx(0.32, abs=0.005)
    assert found["components"]["file_references"] == pytest.approx(0.09, abs=0.005)
    page = (REPOSITORY / "docs" / "VERIFIER.md").read_text(encoding="utf-8")
    assert "The reward is `0.5 * 0.32 + 0.2 * 0.09 + 0.1 * 0.03 = 0.18`" in page
    weights = verify.SCORING["weights"]
    assert verify.weigh(found["components"], weights) == pytest.approx(0.18, abs=0.005)


def test_what_does_not_exist_is_invented_and_costs() -> None:
    honest = "The walk of `evict_expired` starts at the far end of `segment_ring`, so promoted segments come twice."
    lie = honest + " Then `purge_segments` calls `drop_rows_now` and the `row_guard` of it fails."
    found = seen(lie)
    assert found["invented_identifiers"] == ["droprowsnow", "purgesegments", "rowguard"]
    true = (found["found"] + 1) / (found["found"] + 1 + 3)
    assert found["components"]["keyword_overlap"] == pytest.approx(1 - math.exp(-found["found"] * true**2 / 5))
    assert reward(lie) < reward(honest)


@pytest.mark.parametrize(
    "proposal",
    [
        "I would introduce a `RowGuard` that holds it.",
        "A new `RowGuard` holds it.",
        "## Proposed classes\n\nThe `RowGuard` holds it.",
        "The `RowGuard` holds it:\n\n```python\nclass RowGuard:\n    pass\n```",
        "## Proposed design\n\n### Pattern\n\n- `RowGuard`: holds it",
        "I would build three parts:\n\n- the walk\n- `RowGuard` holds it",
        "| Layer | New file | Role |\n|---|---|---|\n| cache | `RowGuard.py` | holds it |",
        "`RowGuard` holds it. I recommend it: `RowGuard` is small.",
    ],
)
def test_what_an_answer_proposes_is_not_invented(proposal: str) -> None:
    found = seen(proposal)
    assert (found["invented_identifiers"], found["proposed_identifiers"]) == ([], ["rowguard"])


@pytest.mark.parametrize(
    "denial",
    [
        "I found no `RowGuard` here.",
        "There is no RowGuard() that holds it.",
        "`RowGuard` does not exist.",
        "I could not find `RowGuard`.",
        "No `RowGuard` and no lock hold it.",
        "It has neither a lock nor a `RowGuard`.",
        "What is missing:\n\n- `RowGuard`\n- a lock",
    ],
)
def test_what_an_answer_says_to_be_absent_is_not_invented(denial: str) -> None:
    assert seen(denial)["invented_identifiers"] == []


@pytest.mark.parametrize(
    "assertion",
    [
        "The `RowGuard` holds it.",
        "## Today\n\n- `RowGuard`: holds it",
        "## Proposed design\n\nA lock.\n\n## Today\n\nThe `RowGuard` holds it.",
        "I would build a lock.\n\nToday:\n\n- `RowGuard` holds it",
        "- I would build a lock\n- `RowGuard` holds it",
        "I would build a lock. The `RowGuard` holds it.",
    ],
)
def test_what_an_answer_says_of_the_present_is_invented(assertion: str) -> None:
    assert seen(assertion)["invented_identifiers"] == ["rowguard"]


def test_more_new_names_than_the_known_ones_carry_count_as_invented() -> None:
    """Worked out by hand: one and a half new names are free for each known one."""
    known = "The walk of `evict_expired` starts at the far end of `segment_ring`, so promoted segments come twice. "
    few = seen(known + "I would add a `RowGuard` for it.")
    many = seen(
        known + " ".join(f"I would add a `Row{letter}Guard` for it." for letter in ("Alpha", "Beta", "Gamma", "Delta"))
    )
    assert few["true"] == 1.0
    assert len(many["proposed_identifiers"]) == 4
    assert many["true"] == pytest.approx((many["found"] + 1) / (many["found"] + 1 + 4 - 1.5 * many["found"]))


def test_capitalised_compounds_outside_code_may_be_products_and_are_not_held_against_anybody() -> None:
    assert seen("We run this on CloudFoundry with the WidgetBox add-on, which is fine.")["invented_identifiers"] == []


def test_a_list_of_names_is_no_statement() -> None:
    found = seen("- `src/cache/store.py`: `evict_expired`, `free_tombstone`\n- `promote_segment`, `segment_ring`")
    assert found["found"] == 0.0


def test_lines_of_the_code_base_are_copies_and_no_statements() -> None:
    lines = STORE.splitlines()[2:5]
    for text in (
        "\n".join(lines),
        "\n".join(f"- `src/cache/store.py`: {line}" for line in lines),
        "\n".join(f"{number:6}\t{line}" for number, line in enumerate(lines)),
        " ".join(lines),
    ):
        found = seen(text)
        assert (found["identifiers"], found["lines_shown"]) == ({}, 3)
        assert reward(text) == 0.0


def test_a_copy_in_prose_costs_when_it_is_most_of_the_text() -> None:
    own = "The walk of `evict_expired` starts at the far end of `segment_ring`, so what was promoted comes twice. "
    dump = own + STORE.replace("\n", " ")
    found = seen(dump)
    assert 0 < found["own"] < 1
    assert found["written"] == pytest.approx(found["own"] ** 2)
    assert seen(own * 9 + STORE)["written"] > seen(dump)["written"]


def test_a_line_shown_counts_beside_names_and_not_alone() -> None:
    line = "```python\nif segment.expires_at < clock_now:\n```"
    found = seen(f"Expiry compares `expires_at` with the clock.\n\n{line}")
    assert found["lines_shown"] == 1
    assert found["components"]["code_blocks"] > 0
    assert reward(line) == 0.0


def test_truth_is_worth_more_than_its_half_and_silence_nothing() -> None:
    half = TRUTH[: len(TRUTH) // 2]
    assert reward(ORACLE) == 1.0 > reward(TRUTH) > reward(half) > reward("promotion") == reward("") == 0.0


def test_what_the_agent_was_given_earns_nothing() -> None:
    assert reward("\n".join((PROMPT, *FILES)) * 20) == 0.0


def test_more_that_is_true_costs_nothing() -> None:
    more = TRUTH + "\n\nThe page itself comes from `render_page` in `src/web/index.py`, which fills `page_template`.\n"
    assert reward(more) >= reward(TRUTH)


def test_a_code_base_without_identifiers_cannot_be_scored() -> None:
    with pytest.raises(GradingError, match="no identifier of the code base can be scored"):
        grading(code={"notes.txt": "one two three\n"})


def test_a_task_that_gives_all_names_away_cannot_be_scored() -> None:
    names = CodeIndex(CODE, ((path, text.encode()) for path, text in CODE.items())).names.values()
    with pytest.raises(GradingError, match="already has them all"):
        grading(prompt=" ".join(f"`{name}()`" for name in names))


def test_where_the_code_base_has_no_line_to_show_the_identifiers_decide() -> None:
    key = grading("The cache fails.", code={"a.py": "evict_expired\npromote_segment\n"}).key
    metrics = verify.score("What `evict_expired` does is wrong here, and nobody has seen it before today.", key)
    assert metrics["components"]["code_blocks"] == metrics["components"]["keyword_overlap"] > 0


def test_three_names_in_a_sentence_earn_a_tenth_even_beside_three_foreign_ones() -> None:
    brief = (
        "Expiry in `evict_expired` (`store.py`) walks the ring while `promote_segment` changes it, so that a segment"
        " comes twice and `free_tombstone` runs twice for it. The guard of `ConcurrentHashMap` and the lock that"
        " `java_util_concurrent` offers do not help, as `LockSupport` knows nothing of it; what helps is a counter that"
        " every promotion raises, which the walk compares before it frees anything. "
    )
    assert len(seen(brief)["invented_identifiers"]) == 3
    assert reward(brief) >= 0.1


def test_metrics_say_why() -> None:
    metrics = verify.score("The walk of `evict_expired` in README.md starts at the far end, says `purge_rows`.", KEY)
    assert list(metrics["identifiers"]) == ["evictexpired"]
    assert metrics["invented_identifiers"] == ["purgerows"]
    assert metrics["scoring"] == "evidence"
    assert metrics["scoring_version"] == verify.VERSION


def test_published_formula_is_the_published_one() -> None:
    """0.5 F1 of words + 0.2 min(1, 2 * share of files) + 0.2 code + 0.1 words/100, worked out by hand."""
    key = grade_as_published(make_task("alpha beta gamma delta")).key
    metrics = published.score("alpha beta store.py\n```\nx\n```\n", key)
    # Words: alpha, beta, storepy of the answer, two of them among the four of the truth: F1 = 2 * 2 / (3 + 4).
    expected = 0.5 * 4 / 7 + 0.2 * 2 / 7 + 0.2 + 0.1 * 6 / 100
    assert metrics["reward"] == pytest.approx(expected, abs=1e-6)
    assert metrics["scoring"] == "published"
    assert published.score("", key)["reward"] == 0.0


def test_the_oracle_of_the_published_formula_earns_1_where_the_truth_names_half_of_the_files() -> None:
    truth = f"The walk in {FILES[0]} is at fault, see {', '.join(FILES[1:])}."
    graded = grade_as_published(make_task(truth))
    assert published.score(graded.oracle, graded.key)["reward"] == graded.oracle_reward == 1.0


@pytest.mark.parametrize("truth", ["alpha beta gamma", {"answer": "alpha `beta`", "more": ["gamma\ndelta"]}])
def test_elsewhere_the_oracle_of_the_published_formula_pays_for_the_names_of_files(truth: Any) -> None:
    graded = grade_as_published(make_task(truth))
    metrics = published.score(graded.oracle, graded.key)
    words = len(published.extract_keywords(graded.key["truth"]))
    named = len(published.extract_keywords(",".join(sorted(path.rpartition("/")[2] for path in FILES))))
    assert metrics["components"] == {
        "keyword_overlap": pytest.approx(2 * words / (2 * words + named), abs=1e-6),
        "file_references": 1.0, "code_blocks": 1.0, "length_score": 1.0,
    }  # fmt: skip
    assert metrics["reward"] == graded.oracle_reward


@settings(max_examples=150)
@given(st.one_of(st.text(), st.lists(st.sampled_from([*TRUTH.split(), "```", "\n", *FILES])).map(" ".join)))
def test_reward_is_between_0_and_1_for_any_text(answer: str) -> None:
    assert 0.0 <= reward(answer) <= 1.0


@given(st.binary())
def test_any_bytes_are_scored(content: bytes) -> None:
    assert 0.0 <= reward(content.decode("utf-8", "replace")) <= 1.0


@pytest.mark.slow
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
        "&#9",
        "`",
        "x.y(",
        "new ",
    ],
)
def test_no_answer_can_blow_up_the_scoring(unit: str) -> None:
    answer = unit * (reading.MAX_ANSWER_BYTES // len(unit))
    started = time.process_time()
    reward(answer)
    # Linear work takes a second or two; quadratic work over a quarter of a million characters takes minutes.
    assert time.process_time() - started < reading.TIME_LIMIT_SECONDS


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder laid out like a task's container after the agent is gone."""
    root = tmp_path / "root"
    for path, content in grader_files(None, "evidence").items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
    (root / "tests" / "ground_truth.json").write_text(json.dumps({"ground_truth": TRUTH, "key": KEY}))
    (root / "app").mkdir()
    (root / "app" / "solution.md").write_text(ORACLE)
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
    content = TRUE_ANSWER[kind](ORACLE).encode() + (b" \xff\xfe" if kind == "invalid UTF-8" else b"")
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
    assert 0.0 <= score < 0.2
    assert not (tmp_path / "ran").exists()


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

"""A task's answer key and its oracle's answer, made with the very functions that its verifier scores with."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from locobench.dataset.scenario import Scenario
from locobench.scoring.code_index import CodeIndex, can_be_written
from locobench.scoring.code_words import Passage
from locobench.scoring.scoring import PUBLISHED, Scoring
from locobench.scoring.verifier import verifier
from locobench.shared.markdown import as_markdown, fence

# The passages that a task is about, as a share of all and at the least.
RELEVANT_SHARE = 0.1
FEWEST_RELEVANT = 3
# What a passage counts for a word of the instruction, a word of the truth and an identifier of the truth.
WEIGHT_OF_TOLD, WEIGHT_OF_WORD, WEIGHT_OF_NAME = 0.5, 1.0, 2.0
# Full credit in a small code base: evidence by its identifiers, files by its files.
EVIDENCE_BASE, EVIDENCE_PER_NAME = 4, 0.1
FILES_BASE, FILES_PER_FILE = 1, 1 / 24
# A truth that names this many of the code base's own identifiers, inventions deducted by half, is true of it; one that
# names no more than the first number says nothing of this code base.
UNTRUE_NAMES, TRUE_NAMES = 2, 6
# An answer in another language is on the topic by the share of its evidence that lies in the relevant passages.
RELEVANT_FULL = 0.6
FLOOR_OF_RELEVANT = 0.5
# The oracle looks no further for evidence.
MOST_PASSAGES = 100
# With the scoring's words for each identifier, one of the oracle's statements has enough of its own.
NAMES_A_STATEMENT, WORDS_A_STATEMENT = 3, 12
# The oracle shows some more than what earns full credit, so that how a line is cut costs it nothing.
SURPLUS = 1.1

Wanted = dict[str, float]


class GradingError(ValueError):
    """A ground truth that no answer could be scored against."""


@dataclass(frozen=True)
class Grading:
    """What the tests need to score a task, and the oracle's answer."""

    key: dict[str, Any]
    oracle: str


def grade_as_published(task: Scenario) -> Grading:
    """Build the key for the published verifier's formula; the oracle hands in the bare truth."""
    truth = task.ground_truth
    key = {
        "scoring": PUBLISHED,
        "truth": truth if isinstance(truth, str) else json.dumps(truth),
        "files": sorted(task.context_files),
    }
    return Grading(key, as_markdown(truth))


def grade_key(
    task: Scenario,
    index: CodeIndex,
    files: Iterable[str],
    *,
    told: str,
    instruction: str,
    roots: Iterable[str],
    scoring: Scoring,
) -> Grading:
    """Build the key of `task` and the oracle's answer.

    Args:
        index: the code base.
        files: every file of the project as the agent sees it (relative to the project).
        told: the task's own words that the agent reads.
        instruction: all that the agent reads; what it names is no knowledge.
        roots: folder names that an answer may put before a path.

    Raises:
        GradingError: the ground truth holds nothing that the task does not give away, or its oracle cannot score 1.
    """
    verify = verifier()
    files = sorted(filter(can_be_written, files))
    # The keys of an object are headings of the oracle's answer, not knowledge; nor are the names that a listing shows.
    given_text = "\n".join((verify.plain(instruction), *roots, _keys(task.ground_truth), *files))
    given = verify.words(given_text) | verify.symbols(given_text)
    told_words, told_phrases = verify.words(told), verify.phrases(given_text)

    text = as_markdown(task.ground_truth)
    truth = _read_truth(text, given)
    passages = _rank_passages(index, truth, told_words)
    best = passages[: max(FEWEST_RELEVANT, math.ceil(RELEVANT_SHARE * len(index.passages)))]
    relevant = {*index.names_in(*best), *(truth.symbols & index.names.keys())}
    true = _truth_is_true(truth.cleaned, index, given)
    key: dict[str, Any] = {
        "scoring": scoring.model_dump(),
        "truth_is_true": true,
        "given": sorted(given),
        "told": verify.pack(set(verify.triples(verify.all_words(given_text)))),
        "told_phrases": sorted(told_phrases),
        "words": sorted(truth.words),
        "symbols": sorted(truth.symbols),
        "phrases": sorted(verify.phrases(truth.plain) - told_phrases),
        "topic_words": sorted(told_words | verify.topic_words(truth.plain)),
        "files": files,
        "roots": sorted(roots),
        "relevant": sorted(relevant - given),
        "relevant_files": sorted({passage.path for passage in best}),
        "index": index.stored,
    }
    wanted = _wanted(scoring, len(index.names.keys() - given), len(files), true)
    oracle = _oracle(text, index, passages, key, wanted)
    _set_needed(key, oracle, index, scoring, wanted)
    return Grading(key, oracle)


class _Truth(NamedTuple):
    """A ground truth as the verifier reads an answer."""

    plain: str
    cleaned: str
    """Without the escapes of a text that was quoted twice."""
    words: set[str]
    """What an answer may share with it, and the task does not give away."""
    symbols: set[str]
    """The same of identifiers."""


def _read_truth(text: str, given: set[str]) -> _Truth:
    verify = verifier()
    plain = verify.plain(text)
    cleaned = verify.unescaped(plain)
    truth = _Truth(
        plain, cleaned, verify.words(plain) - given, (verify.symbols(plain) | verify.symbols(cleaned)) - given
    )
    if not truth.words and not truth.symbols:
        raise GradingError("ground_truth: holds no informative word that the task does not give away")
    return truth


def _rank_passages(index: CodeIndex, truth: _Truth, told_words: set[str]) -> list[Passage]:
    """Return the passages that task and truth speak of, the best first."""
    return index.ranked(
        dict.fromkeys(sorted(told_words), WEIGHT_OF_TOLD) | dict.fromkeys(sorted(truth.words), WEIGHT_OF_WORD),
        dict.fromkeys(sorted(truth.symbols), WEIGHT_OF_NAME),
    )


def _wanted(scoring: Scoring, names: int, files: int, true: float) -> Wanted:
    """Return what full credit takes in a code base of so many identifiers and files."""
    low, high = scoring.topic_full
    return {
        "evidence": min(scoring.full_evidence, EVIDENCE_BASE + EVIDENCE_PER_NAME * names),
        "own_words": scoring.own_words,
        "natural": 1.0,
        "topic": low + (high - low) * true,
        "relevant_share": RELEVANT_FULL,
        "truth": scoring.truth_full,
        "phrases": scoring.phrase_full,
        "files": min(scoring.files, FILES_BASE + FILES_PER_FILE * files),
        "code_lines": scoring.code_lines,
        "length_words": scoring.length_words,
    }


def _set_needed(key: dict[str, Any], oracle: str, index: CodeIndex, scoring: Scoring, wanted: Wanted) -> None:
    """Put into the key what full credit takes, and no credit: what the oracle cannot show cannot be asked for.

    Raises:
        GradingError: the oracle is too long to be read, or does not score 1 with this key.
    """
    verify = verifier()
    if len(oracle.encode()) > verify.MAX_ANSWER_BYTES:
        raise GradingError(
            f"ground_truth: more than {verify.MAX_ANSWER_BYTES:,} bytes, which is all the verifier reads"
        )
    answer = verify.plain(oracle)
    shown, seen = verify.measure(answer, key, index.lookup)
    untrue, true = (low / full for low, full in zip(scoring.topic_floor, scoring.topic_full, strict=True))
    floor = untrue * (1 - key["truth_is_true"]) + true * key["truth_is_true"]
    needed = {name: min(value, shown[name]) for name, value in wanted.items()}
    needed["topic_floor"] = needed["topic"] * floor
    needed["truth_floor"] = needed["truth"] * scoring.truth_floor / scoring.truth_full
    needed["relevant_share_floor"] = needed["relevant_share"] * FLOOR_OF_RELEVANT
    key["needed"] = needed
    reward = verify.metrics(answer, key, shown, seen)["reward"]
    if reward != 1.0:
        raise GradingError(f"ground_truth: its own answer scores {reward}, not 1.0")


def _truth_is_true(truth: str, index: CodeIndex, given: set[str]) -> float:
    """Return how far the truth knows this code base, 0 to 1, by the identifiers that it presents as such."""
    verify = verifier()
    names, others = set(), set()
    for block, _ in verify.read_markdown(truth)[0]:
        certain, maybe, members = verify.claims(block)
        names |= certain
        others |= maybe | members
    own = len(((names | others) & index.rare) - given)
    invented = len(names - index.names.keys() - given)
    return float(verify.share(own - 0.5 * invented, UNTRUE_NAMES, TRUE_NAMES))


def _oracle(text: str, index: CodeIndex, passages: Sequence[Passage], key: dict[str, Any], wanted: Wanted) -> str:
    """Return the truth, followed by what the code base holds on its subject: names in their files, and lines."""
    verify = verifier()
    given, relevant = set(key["given"]), set(key["relevant"])
    statements: list[str] = []
    lines: list[str] = []
    used, said = set(given), set(verify.prose_words(verify.plain(text)))
    files: set[str] = set()
    evidence = 0.0
    enough = {name: SURPLUS * value for name, value in wanted.items()}
    for passage in passages[:MOST_PASSAGES]:
        if len(lines) < enough["code_lines"]:
            lines += [line for line in index.quotable_lines_in(passage) if "```" not in line]
        elif evidence >= enough["evidence"] and len(files) >= enough["files"]:
            break
        if evidence >= enough["evidence"] and passage.path in files:
            continue
        names = [name for name in index.rare_names_in(passage) if name not in used]
        names = names[: None if evidence < enough["evidence"] else NAMES_A_STATEMENT]
        used.update(names)
        around = [word for word in index.plain_words_in(passage) if word not in said] if names else []
        # Some names each, with words of the passage that were not said before: without them it would be a list.
        starts = zip(range(0, len(names), NAMES_A_STATEMENT), range(0, len(around), WORDS_A_STATEMENT), strict=False)
        for first_name, first_word in starts:
            some = names[first_name : first_name + NAMES_A_STATEMENT]
            fresh = around[first_word : first_word + WORDS_A_STATEMENT]
            said.update(fresh)
            place = passage.path if "`" in passage.path else f"`{passage.path}`"
            spelled = ", ".join(f"`{index.names[name]}`" for name in some)
            statements.append(f"- {place} has {spelled}; around them: {', '.join(fresh)}.")
            files.add(passage.path)
            if len(fresh) == WORDS_A_STATEMENT:
                evidence += sum(2 if name in relevant else 1 for name in some)
    parts = [_closed(text)]
    if statements:
        parts.append("## Evidence\n\n" + "\n".join(statements))
    if lines:
        parts.append("## Code\n\n" + fence("\n".join(lines[: math.ceil(enough["code_lines"])])))
    return "\n\n".join(parts)


def _closed(text: str) -> str:
    """Return Markdown with its last code fence closed, so that what follows is read as prose."""
    verify = verifier()
    for end in ("", "\n```", "\n~~~", "\n</pre>", "\n" + "`" * 12, "\n" + "~" * 12):
        if verify.read_markdown(f"{text}{end}\n\nprobe")[0][-1:] == [("probe", False)]:
            return text + end
    return text


def _keys(value: Any) -> str:
    """Return the keys of all objects in `value`."""
    if isinstance(value, dict):
        return " ".join([*(key.replace("_", " ") for key in value), *map(_keys, value.values())])
    return " ".join(map(_keys, value)) if isinstance(value, (list, tuple)) else ""

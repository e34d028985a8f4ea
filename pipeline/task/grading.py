"""A task's answer key and its oracle's answer, made with the very functions that its verifier scores with."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from pipeline.cli import InputError
from pipeline.dataset.markdown import as_markdown, fence
from pipeline.dataset.records import explain
from pipeline.task.code_index import CodeIndex, Passage, can_be_written
from pipeline.task.verifier import verifier

if TYPE_CHECKING:
    from pipeline.dataset.scenario import LoCoBenchTask

PUBLISHED: Literal["published"] = "published"
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

Share = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[float, Field(gt=0)]
Pair = tuple[Share, Share]
Wanted = dict[str, float]


class GradingError(ValueError):
    """A ground truth that no answer could be scored against."""


_DEFAULT = verifier().SCORING


class Weights(BaseModel):
    """Weights of the four components; they are normalised by their sum."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    keyword_overlap: Share = _DEFAULT["weights"]["keyword_overlap"]
    file_references: Share = _DEFAULT["weights"]["file_references"]
    code_blocks: Share = _DEFAULT["weights"]["code_blocks"]
    length_score: Share = _DEFAULT["weights"]["length_score"]

    @model_validator(mode="after")
    def _words_count(self) -> Weights:
        if self.keyword_overlap == 0:
            raise ValueError("keyword_overlap: must be above 0, the other components stand beside it")
        return self


class Scoring(BaseModel):
    """What a scoring file may set; the defaults are those of verify.py, where each is explained."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    weights: Weights = Weights()
    single_part: Share = _DEFAULT["single_part"]
    widespread: Share = _DEFAULT["widespread"]
    elsewhere: Share = _DEFAULT["elsewhere"]
    full_evidence: Positive = _DEFAULT["full_evidence"]
    half_credit: Positive = _DEFAULT["half_credit"]
    trust_floor: Share = _DEFAULT["trust_floor"]
    trust_full: Share = _DEFAULT["trust_full"]
    own_words: int = Field(default=_DEFAULT["own_words"], ge=1)
    words_per_name: float = Field(default=_DEFAULT["words_per_name"], ge=0)
    topic_floor: Pair = tuple(_DEFAULT["topic_floor"])
    topic_full: Pair = tuple(_DEFAULT["topic_full"])
    off_topic: Share = _DEFAULT["off_topic"]
    truth_weight: Share = _DEFAULT["truth_weight"]
    truth_floor: Share = _DEFAULT["truth_floor"]
    truth_full: Share = _DEFAULT["truth_full"]
    phrase_weight: Share = _DEFAULT["phrase_weight"]
    phrase_full: Positive = _DEFAULT["phrase_full"]
    files: Positive = _DEFAULT["files"]
    code_lines: Positive = _DEFAULT["code_lines"]
    support: Positive = _DEFAULT["support"]
    length_words: int = Field(default=_DEFAULT["length_words"], ge=1)

    @classmethod
    def load(cls, path: Path) -> Scoring:
        """Read a TOML file.

        Raises:
            InputError: it cannot be read, or a key or value in it is not known.
        """
        try:
            return cls.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise InputError(
                f"{path}: {error}; --scoring wants the word {PUBLISHED} or a TOML file as docs/VERIFIER.md shows it"
            ) from None
        except ValidationError as error:
            raise InputError(f"{path}: {explain(error)}; docs/VERIFIER.md lists what may be set") from None


@dataclass(frozen=True)
class Grading:
    """What the tests need to score a task, and the oracle's answer."""

    key: dict[str, Any]
    oracle: str


def grade_as_published(task: LoCoBenchTask) -> Grading:
    """Build the key for the published verifier's formula; the oracle hands in the bare truth."""
    truth = task.ground_truth
    key = {
        "scoring": PUBLISHED,
        "truth": truth if isinstance(truth, str) else json.dumps(truth),
        "files": sorted(task.context_files),
    }
    return Grading(key, as_markdown(truth))


def grade_key(
    task: LoCoBenchTask,
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
    text = as_markdown(task.ground_truth)
    truth = verify.plain(text)
    cleaned = verify.unescaped(truth)
    files = sorted(filter(can_be_written, files))
    # The keys of an object are headings of the oracle's answer, not knowledge; nor are the names that a listing shows.
    given_text = "\n".join((verify.plain(instruction), *roots, _keys(task.ground_truth), *files))
    given = verify.words(given_text) | verify.symbols(given_text)
    words = verify.words(truth) - given
    symbols = (verify.symbols(truth) | verify.symbols(cleaned)) - given
    if not words and not symbols:
        raise GradingError("ground_truth: holds no informative word that the task does not give away")

    told_words = verify.words(told)
    passages = index.ranked(
        dict.fromkeys(sorted(told_words), WEIGHT_OF_TOLD) | dict.fromkeys(sorted(words), WEIGHT_OF_WORD),
        dict.fromkeys(sorted(symbols), WEIGHT_OF_NAME),
    )
    best = passages[: max(FEWEST_RELEVANT, math.ceil(RELEVANT_SHARE * len(index.passages)))]
    relevant = {name for passage in best for name in index.names_in(passage)} | symbols & index.names.keys()
    true = _truth_is_true(cleaned, index, given)
    told_phrases = verify.phrases(given_text)
    key: dict[str, Any] = {
        "scoring": scoring.model_dump(),
        "truth_is_true": true,
        "given": sorted(given),
        "told": verify.pack(set(verify.triples(verify.all_words(given_text)))),
        "told_phrases": sorted(told_phrases),
        "words": sorted(words),
        "symbols": sorted(symbols),
        "phrases": sorted(verify.phrases(truth) - told_phrases),
        "topic_words": sorted(told_words | verify.topic_words(truth)),
        "files": files,
        "roots": sorted(roots),
        "relevant": sorted(relevant - given),
        "relevant_files": sorted({passage.path for passage in best}),
        "index": index.stored,
    }
    wanted = _wanted(scoring, len(index.names.keys() - given), len(files), true)
    oracle = _oracle(text, index, passages, key, wanted)
    if len(oracle.encode()) > verify.MAX_ANSWER_BYTES:
        raise GradingError(
            f"ground_truth: more than {verify.MAX_ANSWER_BYTES:,} bytes, which is all the verifier reads"
        )
    # What the oracle cannot show cannot be asked for.
    answer = verify.plain(oracle)
    shown, seen = verify.measure(answer, key, index.lookup)
    floor = scoring.topic_floor[0] / scoring.topic_full[0] * (1 - true) + (
        scoring.topic_floor[1] / scoring.topic_full[1] * true
    )
    key["needed"] = {name: min(value, shown[name]) for name, value in wanted.items()}
    key["needed"]["topic_floor"] = key["needed"]["topic"] * floor
    key["needed"]["truth_floor"] = key["needed"]["truth"] * scoring.truth_floor / scoring.truth_full
    key["needed"]["relevant_share_floor"] = key["needed"]["relevant_share"] * FLOOR_OF_RELEVANT
    reward = verify.metrics(answer, key, shown, seen)["reward"]
    if reward != 1.0:
        raise GradingError(f"ground_truth: its own answer scores {reward}, not 1.0")
    return Grading(key, oracle)


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
            found = (line.decode("utf-8", "replace") for line in passage.text.splitlines())
            lines += [line for line in found if index.lookup.quoted(line) and "```" not in line]
        elif evidence >= enough["evidence"] and len(files) >= enough["files"]:
            break
        if evidence >= enough["evidence"] and passage.path in files:
            continue
        names = [name for name in index.names_in(passage) if name not in used and name in index.rare]
        names = names[: None if evidence < enough["evidence"] else NAMES_A_STATEMENT]
        used.update(names)
        around = [word for word in _plain_words(passage) if word not in said] if names else []
        for start in range(0, len(names), NAMES_A_STATEMENT):
            some = names[start : start + NAMES_A_STATEMENT]
            # Words that were not said before, from the passage: without them it would be a list.
            fresh, around = around[:WORDS_A_STATEMENT], around[WORDS_A_STATEMENT:]
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


def _plain_words(passage: Passage) -> list[str]:
    """Return the words of a passage that are prose and no identifier, in lower case; short and everyday ones first.

    Those do not tell what a task is about, so that the oracles of two tasks do not become alike.
    """
    everyday = verifier().EVERYDAY
    found = {word.decode("utf-8", "replace") for word in passage.words}
    fit = {word.lower() for word in found if word.isascii() and word.isalpha() and len(word) > 1}
    return sorted(fit, key=lambda word: (word not in everyday and len(word) > 2, word))


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

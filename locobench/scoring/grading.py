"""Build a task's answer key and its oracle's answer, with the same functions that its verifier scores with."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from locobench.dataset.scenario import Scenario
from locobench.reading import MAX_ANSWER_BYTES, WORD, Block, fold, names_in, read_blocks
from locobench.scoring import exact, published, verify
from locobench.scoring.code_index import CodeIndex, compounds
from locobench.shared.errors import InputError
from locobench.shared.markdown import as_markdown, fence
from locobench.shared.validation import first_problem

# The oracle provides evidence for this many times the scale of each component, if there is enough: 99 % of the credit.
ENOUGH = 5
NAMES_A_STATEMENT = 3


class GradingError(InputError):
    """Answers cannot be scored against the ground truth."""


class ExactAnswer(BaseModel):
    """The ground truth of a question with an exact answer."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    measure: Literal["f1", "f2"]
    items: tuple[str, ...] = Field(min_length=1)
    """Items of the form `path: Qualified.name`, or just paths."""
    names: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """File -> names it defines: a bare name counts if its file defines only one such name."""
    grep: tuple[str, ...] = ()
    """The answer that a single grep gives."""


@dataclass(frozen=True)
class Grading:
    """What the tests need to score a task, and the oracle's answer."""

    key: dict[str, Any]
    oracle: str
    oracle_reward: float = 1.0
    """What the oracle's answer earns, 0-1."""


def grade_as_published(task: Scenario) -> Grading:
    """Build the key for the published verifier's formula, and the best answer there is under it.

    The answer is the ground truth, repeated up to 100 words, and a block of code that names the files it leaves out.
    Where the truth names fewer than half of the files, no answer earns 1.0: a file's name is a word that the truth does
    not have. All names in one word cost the least: 0.5 / (2 * words of the truth + 1), 0.005 for 50.
    """
    truth = task.ground_truth if isinstance(task.ground_truth, str) else json.dumps(task.ground_truth)
    key = {"scoring": "published", "truth": truth, "files": sorted(task.context_files)}
    oracle = "\n\n".join([truth] * math.ceil(published.ENOUGH_WORDS / len(truth.split())))
    if published.check_code_blocks(oracle) < 1:
        oracle = f"```\n{oracle}\n```"
    if published.check_file_references(oracle, key["files"]) < 1:
        names = ",".join(sorted({path.rpartition("/")[2] for path in key["files"]}))
        oracle = f"{_close_fence(oracle)}\n\n```\n{names}\n```"
    return Grading(key, _check_length(oracle), published.score(oracle, key)["reward"])


def as_answer(items: Sequence[str]) -> str:
    """Format an answer as an agent submits it."""
    return "```answer\n" + "\n".join(items) + "\n```\n"


def grade_exact(task: Scenario) -> Grading:
    """Build the key and the oracle's answer.

    Raises:
        GradingError: the ground truth is not an exact answer, or its own answer does not score 1.
    """
    try:
        answer = ExactAnswer.model_validate(task.ground_truth)
    except ValidationError as error:
        raise GradingError(f"ground_truth: not an exact answer: {first_problem(error)}") from None
    key: dict[str, Any] = {**answer.model_dump(mode="json"), "project": task.project_id}
    key["grep_reward"] = exact.score(as_answer(answer.grep), key)["reward"]
    oracle = as_answer(answer.items)
    reward = exact.score(oracle, key)["reward"]
    if reward != 1.0 or exact.score("", key)["reward"] != 0.0:
        raise GradingError(f"ground_truth: its own answer scores {reward}, not 1.0")
    return Grading(key, oracle)


def grade_key(
    task: Scenario,
    index: CodeIndex,
    *,
    context_files: Sequence[str],
    instruction: str,
) -> Grading:
    """Build the key of `task` and the oracle's answer.

    Args:
        index: the code base.
        context_files: the files that the task names; the oracle mentions them first.
        instruction: what the agent reads; an answer gets no credit for names in it.

    Raises:
        GradingError: there is no identifier to look up, or the ground truth is longer than an answer may be.
    """
    # A server calls the code base by its project's id, and shows it before every path.
    given = index.names_of_paths | _named_in(f"{instruction}\n\n`{task.project_id}`", context_files)
    oracle = _oracle(as_markdown(task.ground_truth), index, given, context_files)
    return Grading({"given": sorted(given), "oracle": oracle, **index.stored}, _check_length(oracle))


def _check_length(oracle: str) -> str:
    """Return the oracle's answer; raise GradingError if a verifier does not read all of it."""
    if len(oracle.encode()) > MAX_ANSWER_BYTES:
        raise GradingError(f"ground_truth: longer than the {MAX_ANSWER_BYTES:,} bytes that the verifier reads")
    return oracle


def _named_in(instruction: str, context_files: Iterable[str]) -> set[str]:
    """Return the folded identifiers that the instruction gives away, but for those in its list of files.

    `CodeIndex.names_of_paths` has them: paths are read once a project, not once a task.
    """
    listed = {f"- `{path}`" for path in context_files}
    said = [block.text for block in read_blocks(instruction) if block.text not in listed]
    return compounds("\n".join(said)).union(*(names for text in said for names in names_in(text)))


def _oracle(truth: str, index: CodeIndex, given: set[str], context_files: Iterable[str]) -> str:
    """Return the truth followed by evidence from the code base: identifiers with their files, and lines with them.

    Raises:
        GradingError: there is no identifier that the task does not give away.
    """
    named = index.code.files.named_in(truth)
    files = list(dict.fromkeys([*sorted(named), *context_files, *index.files]))
    statements: list[str] = []
    said: set[str] = set()
    found = 0.0
    spoken_of: set[str] = set()
    enough_names, enough_shown = ENOUGH * verify.SCORING["names"], ENOUGH * verify.SCORING["shown"]
    for path, names in _portions(index, files, given):
        if found >= enough_names and len(spoken_of) >= enough_shown:
            break
        if names := [name for name in names if name not in said]:
            place = path if "`" in path else f"`{path}`"
            spelled = ", ".join(f"`{index.names[name]}`" for name in names)
            statements.append(f"- Whoever answers this has to know that {place} holds {spelled}, and what that is for.")
            said.update(names)
            found += sum(1 / math.sqrt(len(index.code.places[name])) for name in names)
            spoken_of.add(path)
    if not statements:
        raise GradingError(
            "no identifier of the code base can be scored: the instruction already has them all;"
            " --scoring published compares words instead"
        )
    parts = [_close_fence(truth), "## Evidence\n\n" + "\n".join(statements)]
    if lines := _lines_with(index, sorted(spoken_of, key=files.index), said, enough_shown):
        parts.append("## Code\n\n" + fence("\n".join(lines)))
    return "\n\n".join(parts)


def _portions(index: CodeIndex, files: list[str], given: set[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield (file, some of its identifiers), taking turns: every file comes once before any comes twice."""
    turns = {path: _not_given(index, path, given) for path in files}
    while turns:
        for path, names in list(turns.items()):
            if portion := list(islice(names, NAMES_A_STATEMENT)):
                yield path, portion
            else:
                del turns[path]


def _not_given(index: CodeIndex, path: str, given: set[str]) -> Iterator[str]:
    # A generator of its own, so that a file is not read before its turn.
    yield from (name for name in index.names_in(path) if name not in given)


def _lines_with(index: CodeIndex, files: Iterable[str], names: set[str], most: int) -> list[str]:
    """Return at most `most` lines of the files that contain one of the identifiers."""
    lines: list[str] = []
    for path in files:
        for line in index.lines_in(path):
            if len(lines) >= most:
                return lines
            if "```" not in line and any(fold(token) in names for token in WORD.findall(line)):
                lines.append(line)
    return lines


def _close_fence(text: str) -> str:
    """Close the last code fence of Markdown text, so that what follows is read as prose."""
    for end in ("", "\n```", "\n~~~", "\n" + "`" * 12, "\n" + "~" * 12):
        if read_blocks(f"{text}{end}\n\nprobe")[-1] == Block("prose", "probe"):
            return text + end
    return text

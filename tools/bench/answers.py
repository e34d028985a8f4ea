"""Answers of known worth to a task: parts and presentations of the oracle's, frauds, programs' prose, near misses.

Every function is deterministic: the same task gives the same answer.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from adapter import LoCoBenchTask
from locobench import reading
from locobench.generate.project import ProjectMapping
from locobench.reading import WORD, is_compound
from locobench.scoring import verify
from locobench.scoring.code_index import CodeIndex
from locobench.scoring.grading import Grading
from locobench.shared.markdown import as_markdown, fence

FILLER = (
    "The system should be analysed with care. It is important to look at every part and to think about how the parts "
    "work together. A good solution takes all requirements into account and is easy to maintain. "
    "We need to make sure that "
    "everything works as expected and that nothing is forgotten. "
) * 8
GARDEN = (
    "Before anything is planted the soil wants a rest, and in that rest most of the work is done. ",
    "A bed that was dug in autumn needs little more than a rake in spring, whatever the neighbours say. ",
    "Water in the morning, for leaves that stay wet over night invite the mildew. ",
    "The roses were cut back in March, and by June nobody could see where. ",
    "Compost is patience: what goes in as kitchen waste comes out as the best part of next year's harvest. ",
)
_COMMENT = re.compile(r"^\s*(?://+|#|/?\*+/?|--|\"\"\"|<!--)\s?(.*)$")


@dataclass(frozen=True)
class Case:
    """One task with what its answers are made of."""

    task: LoCoBenchTask
    mapping: ProjectMapping
    instruction: str
    grading: Grading

    @property
    def index(self) -> CodeIndex:
        return self.mapping.index()

    @cached_property
    def full(self) -> dict[tuple[tuple[str, Any], ...], dict[str, float]]:
        """What the oracle reaches, by the constants that were replaced."""
        return {}

    @cached_property
    def texts(self) -> dict[str, str]:
        """The project's text files."""
        return {path: content.decode("utf-8", "replace") for path, content in self.index.texts.items()}

    @cached_property
    def words(self) -> list[str]:
        """The different words of the code base, in their order."""
        return list(dict.fromkeys(word for text in self.texts.values() for word in WORD.findall(text)))

    def names(self, most: int) -> list[tuple[str, str]]:
        """Return (path, identifier as the code spells it) of the files that the task names, the rarest first."""
        given = set(self.grading.key["given"])
        return [
            (path, self.index.names[name])
            for path in self.mapping.context_files
            for name in [name for name in self.index.names_in(path) if name not in given][:most]
        ]

    def measure(self, answer: str, **scoring: Any) -> dict[str, Any]:
        """Return the metrics of an answer, with some of the scoring's constants replaced."""
        answer = answer.encode()[: reading.MAX_ANSWER_BYTES].decode("utf-8", "replace")
        key, code, constants = self.grading.key, self.index.code, verify.SCORING | scoring
        chosen = tuple(scoring.items())
        if chosen not in self.full:
            self.full[chosen] = verify.measure(key["oracle"], key, code, constants)["components"]
        return verify.normalize_by_oracle(self.full[chosen], verify.measure(answer, key, code, constants))

    def reward(self, answer: str, **scoring: Any) -> float:
        return float(self.measure(answer, **scoring)["reward"])


def units(text: str) -> list[str]:
    """Cut Markdown into sentences; a fenced block stays whole, so does a heading or a bullet of one sentence."""
    found: list[str] = []
    block: list[str] = []
    for line in text.splitlines():
        if block or line.lstrip().startswith("```"):
            block.append(line)
            if len(block) > 1 and line.lstrip().startswith("```"):
                found.append("\n".join(block))
                block = []
        elif line.strip():
            found += [part for part in re.split(r"(?<=[.!?])\s+(?=[A-Z`*\d])", line) if part.strip()]
    return found + (["\n".join(block)] if block else [])


def part_of_oracle(case: Case, share: float) -> str:
    """Return a random part of the oracle's sentences."""
    sentences = units(case.grading.oracle)
    chosen = sorted(random.Random(case.task.id).sample(range(len(sentences)), max(1, round(share * len(sentences)))))
    return "\n".join(sentences[index] for index in chosen)


# Frauds: nothing in them was written about the code.


def frauds(case: Case) -> dict[str, str]:
    """Return dumps of the code base, lists of what is in it, echoes, filler and quotes, by kind."""
    texts, chance = case.texts, random.Random(case.task.id)
    project, shuffled = "\n".join(texts.values()), chance.sample(case.words, len(case.words))
    numbered = [
        (path, number, line) for path, text in texts.items() for number, line in enumerate(text.splitlines(), 1)
    ]
    comments = [match[1].strip() for _, _, line in numbered if (match := _COMMENT.match(line)) and match[1].strip()]
    names = [word for word in case.words if is_compound(word)]
    spans = [f"`{name}`" for name in names]
    some = [(path, f"`{name}`") for path, name in case.names(15)]
    quotes = {path: chance.sample(lines, min(3, len(lines))) for path, text in texts.items() if (lines := _lines(text))}
    return {
        "filler": FILLER,
        "the instruction": case.instruction,
        "the instruction, twice, and all files": case.instruction * 2 + "\n".join(f"- `{path}`" for path in texts),
        "project, no fence": project,
        "project, fenced": f"```\n{project}\n```",
        "project, a fence a file": "\n".join(f"`{path}`\n{fence(text)}" for path, text in texts.items()),
        "project, indented": "\n".join("    " + line for line in project.splitlines()),
        "project, as a quotation": "\n".join("> " + line for line in project.splitlines()),
        "project, a heading a file": "\n\n".join(f"## {path}\n\n{text}" for path, text in texts.items()),
        "project, in <pre>": f"<pre>\n{project}\n</pre>",
        "project, as cat -n": "\n".join(f"{number:6}\t{line}" for _, number, line in numbered),
        "project, as grep -n": "\n".join(f"{path}:{number}:{line}" for path, number, line in numbered),
        "comments, a line each": "\n".join(comments),
        "comments, a bullet each": "\n".join("- " + text for text in comments),
        "comments, a paragraph each": "\n\n".join(comments),
        "comments, in one paragraph": " ".join(comments),
        "identifiers, a line each": "\n".join(names),
        "identifiers, in a row": ", ".join(spans),
        "identifiers, a bullet each": "\n".join("- " + span for span in spans),
        "identifiers, fenced": fence("\n".join(names)),
        "identifiers after filler": f"{FILLER}\n\n{', '.join(spans)}",
        "identifiers after the instruction": f"{case.instruction}\n\n{', '.join(spans)}",
        "file: identifier": "\n".join(f"- `{path}`: {span}" for path, span in some),
        "file and identifier, in a table": "| file | name |\n|---|---|\n"
        + "\n".join(f"| {path} | {span} |" for path, span in some),
        "every word, in order": " ".join(case.words),
        "every word, shuffled": " ".join(shuffled),
        "quoted lines": "\n".join(f"`{path}`:\n{fence(chr(10).join(lines))}" for path, lines in quotes.items()),
        "quoted lines, in spans": "\n".join(f"- `{path}`: `{li}`" for path, lines in quotes.items() for li in lines),
    }  # fmt: skip


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip() and "`" not in line]


# Programs that write sentences around true names, without understanding: measured, and promised nothing.

FORMS = (
    "`{name}` in `{path}` carries the main part of the behaviour here.",
    "Look at `{path}`: `{name}` decides how this step goes on.",
    "The role of `{name}` (`{path}`) is central for the question.",
    "From `{path}` we learn that `{name}` must be kept in mind.",
    "`{path}` holds `{name}`, one of the places where a change is needed.",
)


def programs(case: Case) -> dict[str, str]:
    """Return what programs write that know true names, by what they do."""
    chance = random.Random(case.task.id)
    found = case.names(8)[:40]
    twenty = found[:20]
    told = WORD.findall("\n".join((case.task.title, case.task.description, as_markdown(case.task.task_prompt))))
    by_file: dict[str, list[str]] = {}
    for path, name in found:
        by_file.setdefault(path, []).append(f"`{name}`")
    lines = [line for path, _ in twenty for line in _lines(case.texts.get(path, ""))[:1]][:3]
    essay = "".join(f"{GARDEN[number % 5]}So it is with `{name}`. " for number, (_, name) in enumerate(twenty))
    relevant = [
        f"The file `{path}` matters for this task, because it says {line}"
        for path, text in case.texts.items()
        for line in _lines(text)[:1]
    ]
    return {
        "five forms filled in": "\n\n".join(chance.choice(FORMS).format(path=path, name=name) for path, name in found),
        "a gardening essay with 20 names, the task and three lines": "\n\n".join(
            (case.instruction, essay, fence("\n".join(lines)))
        ),
        "the task's words, shuffled around names": "\n\n".join(
            f"{' '.join(chance.sample(told, min(12, len(told))))} `{name}` in `{path}`." for path, name in found
        ),
        "guesses from a list of tags": "\n\n".join(
            f"`{path}` is built around {', '.join(names)}: judging by their names, these take the request, check it and"
            " hand it on to the next layer, where the state is changed and saved."
            for path, names in by_file.items()
        ),
        "grep's lines in sentences": "\n".join(relevant[:40]),
        "comments with an introduction": "\n\n".join(
            f"In `{path}` the author explains `{name}` and what it is there for, which answers a part of the question."
            for path, name in found
        ),
    }


def as_proposal(answer: str) -> str:
    """Return an answer with every heading made one of a proposal, so that whatever it names is called new."""
    return re.sub(r"(?m)^(#+ )", r"\1Proposed: ", f"# Design\n\n{answer}")


# Other presentations of the same answer.

_IDENTIFIER = re.compile(r"`([A-Za-z_]\w*)`")


def _parts(name: str) -> list[str]:
    return re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)


def _respelled(text: str, spell: Callable[[list[str]], str]) -> str:
    """Return `text` with every identifier of several parts that stands in a code span spelled another way."""

    def other(match: re.Match[str]) -> str:
        parts = _parts(match[1])
        return f"`{spell(parts)}`" if len(parts) > 1 and "".join(parts) == match[1].replace("_", "") else match[0]

    return _outside_code(text, lambda line: _IDENTIFIER.sub(other, line))


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    lines, inside = [], False
    for line in text.splitlines():
        if line.lstrip().startswith(("```", "~~~")):
            inside = not inside
            lines.append(line)
        else:
            lines.append(line if inside else change(line))
    return "\n".join(lines)


def _paths(case: Case, write: Callable[[str], str]) -> str:
    text = case.grading.oracle
    for path in sorted(case.grading.key["files"], key=len, reverse=True):
        text = text.replace(f"`{path}`", write(path))
    return text


def presentations(case: Case) -> dict[str, str]:
    """Return the oracle's answer as others would present it."""
    oracle = case.grading.oracle
    return {
        "snake_case": _respelled(oracle, lambda parts: "_".join(parts).lower()),
        "camelCase": _respelled(oracle, lambda parts: parts[0].lower() + "".join(map(str.capitalize, parts[1:]))),
        r"escaped \_": _outside_code(oracle, lambda line: _IDENTIFIER.sub(lambda m: m[1].replace("_", r"\_"), line)),
        "<code>": _outside_code(oracle, lambda line: _IDENTIFIER.sub(r"<code>\1</code>", line)),
        "paths with lines": _paths(case, lambda path: f"`{path}#L10-L20`"),
        "absolute paths": _paths(case, lambda path: f"/app/project/{path}:12"),
        "paths as links": _paths(case, lambda path: f"[{path.rpartition('/')[2]}](./{path})"),
        "Windows line ends": oracle.replace("\n", "\r\n"),
    }


# Near misses.


def truths_of_project(case: Case, others: Iterable[Case]) -> list[str]:
    """Return the oracle's answers to the other tasks of the same project."""
    return [o.grading.oracle for o in others if o.task.project_id == case.task.project_id and o.task.id != case.task.id]


def truths_elsewhere(case: Case, others: Iterable[Case]) -> list[str]:
    """Return the oracle's answers to tasks of other projects: in the same language, else of the same category."""
    strange = [other for other in others if other.task.project_id != case.task.project_id]
    same = [other for other in strange if other.task.language == case.task.language]
    return [
        other.grading.oracle for other in same or strange if same or other.task.task_category == case.task.task_category
    ]


# Small changes of an answer, which must change its reward little.


def small_changes(case: Case, answer: str) -> Iterator[tuple[str, str]]:
    """Yield (kind, changed answer): a sentence more or less, sections in another order, and the like."""
    chance = random.Random(case.task.id)
    for start, end in _sentences(answer):
        yield "a sentence removed", answer[:start] + answer[end:]
    yield (
        "a neutral sentence added",
        f"{answer}\n\nThe rest of the module is unaffected by this and can stay as it is.\n",
    )
    yield "a neutral sentence first", f"Here is what I found after reading the code.\n\n{answer}"
    for path, name in case.names(1)[:1]:
        yield (
            "a true sentence added",
            f"{answer}\n\nNote that `{name}` lives in `{path}` and belongs to the same flow.\n",
        )
    yield (
        "three proposed components added",
        f"{answer}\n\nI would introduce a new `FulfilmentOutboxPort`, a `RetryBudget` and a `FocusChangedEvent`.\n",
    )
    yield "the title added", f"# {case.task.title}\n\n{answer}"
    sections = re.split(r"(?m)^(?=#)", answer) if "```" not in answer else [answer]
    yield "sections in another order", "\n".join(chance.sample(sections, len(sections)))
    paragraphs = answer.split("\n\n")
    plain = [text[:1].isalpha() and "```" not in text for text in paragraphs]
    for place in [place for place in range(len(paragraphs) - 1) if plain[place] and plain[place + 1]]:
        merged = [*paragraphs[:place], " ".join(paragraphs[place : place + 2]), *paragraphs[place + 2 :]]
        yield "two paragraphs merged", "\n\n".join(merged)


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of the sentences outside fences."""
    place, inside = 0, False
    for line in text.splitlines(keepends=True):
        if line.lstrip().startswith("```"):
            inside = not inside
        elif not inside and line.strip():
            ends = [match.end() for match in re.finditer(r"(?<=[.!?])\s+(?=[A-Z`*\d])", line)]
            for start, end in zip([0, *ends], [*ends, len(line)], strict=True):
                yield place + start, place + end
        place += len(line)

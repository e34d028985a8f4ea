"""Answers of known worth to a task: parts of the oracle's, other presentations of it, scripts, and near misses.

Every function is deterministic: the same task gives the same answer.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from adapter import LoCoBenchTask
from locobench.generate.project import Mapping
from locobench.scoring.code_index import CodeIndex
from locobench.scoring.grading import Grading
from locobench.scoring.verifier import verifier
from locobench.shared.markdown import as_markdown, fence

# Frequent words of program texts and of writing about them: what a dictionary attack would hold.
PROGRAMMING_WORDS = """
abstract access account action adapter algorithm alias allocation annotation api architecture argument array
assertion async atomic attribute authentication authorization backend backoff batch binary boolean boundary
branch broadcast broker buffer bug build bus byte cache callback cascade channel checksum class cleanup
client clock cluster collection column command commit compiler concurrency condition config configuration
connection constant constraint constructor consumer container controller converter cookie counter coupling
crash credential cursor daemon data database deadlock debug decorator default delegate delete dependency
deployment deserialize destructor dispatch distributed domain driver duplicate encoding encryption endpoint
engine entity enum environment error event exception executor expiry export factory fallback filter flag
flush framework frontend function garbage gateway generator getter global graph handler hash header heap
helper hook http idempotent identifier import index inheritance injection input insert instance integer
integration interface invalid invariant iterator job json kernel key latency layer leak ledger lifecycle
limit listener load lock log logger loop manager map mapping memory merge message metadata method metric
microservice middleware migration mock model module monitor mutex namespace network node null object
observer offset operator optimization orchestrator output overflow overhead package packet page parallel
parameter parser partition password patch path payload permission persistence pipeline plugin pointer policy
polling pool port prefix priority process processor producer profile promise protocol provider proxy publish
query queue race random rate record recovery recursion refactor registry release repository request reset
resolver resource response rest retry rollback router routing row rule runtime sanitize scheduler schema
scope security semaphore sequence serialize server service session setter shard signal singleton snapshot
socket sort stack state static storage strategy stream string struct subscriber suffix synchronization table
tag template tenant test thread throttle throughput timeout timer timestamp token topic trace transaction
transform transport trigger tuple type unit update upload url user utility validation validator variable
vector version view virtual volatile vulnerability watch webhook widget wrapper write
"""
FILLER = (
    "The system should be analysed with care. It is important to look at every part and to think about how the parts "
    "work together. A good solution takes all requirements into account and is easy to maintain. "
    "We need to make sure that "
    "everything works as expected and that nothing is forgotten. "
) * 8
# Lines that a script quotes, files that it names, identifiers that it lists of each.
MOST_LINES, MOST_FILES, MOST_NAMES = 40, 6, 40


@dataclass(frozen=True)
class Case:
    """One task with what its answers are made of."""

    task: LoCoBenchTask
    mapping: Mapping
    instruction: str
    grading: Grading

    @property
    def index(self) -> CodeIndex:
        return self.mapping.index()

    @cached_property
    def told(self) -> str:
        return "\n".join((self.task.title, self.task.description, as_markdown(self.task.task_prompt)))

    @cached_property
    def lines(self) -> list[tuple[str, str]]:
        """(path, line) of every line of the code base that is not blank."""
        texts = ((passage.path, passage.text.decode("utf-8", "replace")) for passage in self.index.passages)
        return [(path, line.strip()) for path, text in texts for line in text.splitlines() if line.strip()]

    @cached_property
    def names(self) -> dict[str, list[str]]:
        """The identifiers of each file, the rarest first."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for passage in self.index.passages:
            found[passage.path].update(self.index.names_in(passage))
        spread = Counter(name for names in found.values() for name in names)
        return {path: sorted(names, key=lambda name: (spread[name], name)) for path, names in found.items()}


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


def listing(case: Case) -> str:
    return "\n".join(f"- `{path}`" for path in case.mapping.context_files)


def echo_listing_fence(case: Case) -> str:
    prompt = as_markdown(case.task.task_prompt)
    return f"{case.instruction}\n\nRelevant files:\n{listing(case)}\n\n{fence(prompt)}\n"


def project_text(case: Case) -> str:
    return fence("\n".join(passage.text.decode("utf-8", "replace") for passage in case.index.passages))


def benchmark_vocabulary(case: Case, others: Sequence[Case], size: int = 400) -> str:
    """Return the words that most ground truths of the other projects share: the best dictionary that could be made."""
    spread = Counter(
        word for other in others if other.task.project_id != case.task.project_id for word in other.grading.key["words"]
    )
    return " ".join(word for word, _ in sorted(spread.items(), key=lambda item: (-item[1], item[0]))[:size])


# Scripts without understanding: everything that they say is true of the code base.


def retrieved(case: Case) -> list[tuple[str, str]]:
    """Return (path, line) of the lines of code that share most words with the task's text."""
    wanted = verifier().words(case.told)
    ranked = sorted(
        case.lines, key=lambda line: (-len(verifier().words(line[1]) & wanted), -min(100, len(line[1])), line)
    )
    return ranked[:MOST_LINES]


def files_of_interest(case: Case) -> list[str]:
    """Return the files that the task's text names, else those with most of the identifiers that several files have."""
    named = verifier().mentioned_files(case.told, case.grading.key["files"], case.grading.key["roots"])
    central = sorted(
        case.names, key=lambda path: (-sum(name not in case.index.rare for name in case.names[path]), path)
    )
    return sorted(named & case.names.keys())[:MOST_FILES] or central[:MOST_FILES]


def pairs(case: Case) -> list[tuple[str, str]]:
    """Return (path, identifier) of the files of interest, identifiers as the code spells them."""
    return [
        (path, case.index.names[name]) for path in files_of_interest(case) for name in case.names[path][:MOST_NAMES]
    ]


TEMPLATES = (
    "`{name}` in `{path}` carries the main part of the behaviour here.",
    "Look at `{path}`: `{name}` decides how this step goes on.",
    "The role of `{name}` (`{path}`) is central for the question.",
    "From `{path}` we learn that `{name}` must be kept in mind.",
    "`{path}` holds `{name}`, one of the places where a change is needed.",
)


def scripts(case: Case, ranker: Ranker) -> dict[str, str]:
    """Return what programs would write that can search but not understand, by kind."""
    lines, found = retrieved(case), pairs(case)
    chance = random.Random(case.task.id)
    dictionary = PROGRAMMING_WORDS.split()
    echo = [sentence for sentence in units(case.told) if len(sentence) > 20] or [case.told]
    by_file: defaultdict[str, list[str]] = defaultdict(list)
    for path, name in found:
        by_file[path].append(f"`{name}`")
    return {
        "retrieval, fenced": "\n".join(f"`{path}`:\n```\n{line}\n```" for path, line in lines),
        "retrieval, as grep prints": "\n".join(f"- `{path}`: {line}" for path, line in lines),
        "retrieval, in sentences": "\n".join(
            f"- The file `{path}` is relevant to the task because it says {line}" for path, line in lines
        ),
        "central files": "\n".join(f"- `{path}`: {', '.join(names[:15])}" for path, names in by_file.items()),
        "file: identifier": "\n".join(f"- `{path}`: `{name}`" for path, name in found),
        "file: identifier, in one sentence": "\n".join(
            f"- The identifier `{name}` is defined and used in the file `{path}`, which matters for this task."
            for path, name in found
        ),
        "file: identifier, in five sentences": "\n\n".join(
            chance.choice(TEMPLATES).format(path=path, name=name) for path, name in found
        ),
        "file: identifier, with the task's sentences": "\n".join(
            f"- {echo[number % len(echo)]} `{path}`: `{name}`" for number, (path, name) in enumerate(found)
        ),
        "file: identifier, with a dictionary": "\n".join(
            f"- `{path}`: `{name}` {' '.join(chance.sample(dictionary, 8))}" for path, name in found
        ),
        "learned ranker": ranker.quotes(case),
        "learned ranker, in sentences": ranker.sentences(case),
    }


class Ranker:
    """Learns from the ground truths of some projects which lines of code an answer is about, and quotes such lines.

    Logistic regression on what can be seen of a line without understanding it; it knows nothing of the task it answers
    but instruction and code.
    """

    def __init__(self, cases: Sequence[Case]) -> None:
        import numpy as np

        rows, labels = [], []
        for case in cases:
            truth = verifier().words(as_markdown(case.task.ground_truth))
            chance = random.Random(case.task.id)
            lines = chance.sample(case.lines, min(300, len(case.lines)))
            rows += self._features(case, lines)
            for _, line in lines:
                labels.append(len(verifier().words(line) & truth) >= 2)
        x, y = np.array(rows), np.array(labels, dtype=float)
        self._mean, self._deviation = x.mean(0), x.std(0) + 1e-9
        x = (x - self._mean) / self._deviation
        self._weights = np.zeros(x.shape[1])
        for _ in range(200):
            chance_of = 1 / (1 + np.exp(-(x @ self._weights) - np.log(y.mean() / (1 - y.mean()))))
            self._weights += 0.5 * (x.T @ (y - chance_of) / len(y) - 0.01 * self._weights)

    @staticmethod
    def _features(case: Case, lines: Iterable[tuple[str, str]]) -> list[list[float]]:
        read, told, wanted = verifier(), case.told, verifier().words(case.told)
        rows = []
        for path, line in lines:
            words, rare = read.words(line), read.symbols(line) & case.index.rare
            named = path in told or path.rpartition("/")[2] in told
            rows.append(
                [len(words & wanted), len(words), len(rare), float(named), min(len(line), 120), float("(" in line)]
            )
        return rows

    def best(self, case: Case) -> list[tuple[str, str]]:
        """Return (path, line) of the lines that it expects in an answer, the best first."""
        import numpy as np

        lines = sorted(set(case.lines))
        x = (np.array(self._features(case, lines)) - self._mean) / self._deviation
        return [lines[number] for number in np.argsort(-(x @ self._weights), kind="stable")[:MOST_LINES]]

    def quotes(self, case: Case) -> str:
        """Return the best lines with their files and the identifiers in them."""
        said = []
        for path, line in self.best(case):
            names = ", ".join(f"`{case.index.names[name]}`" for name in self._names(case, line))
            said.append(f"- `{path}`: {names}\n\n```\n{line}\n```")
        return "\n".join(said)

    def sentences(self, case: Case) -> str:
        """Return the same with a sentence for each identifier, filled in with words of the line."""
        chance = random.Random(case.task.id)
        said = []
        for path, line in self.best(case):
            words = " ".join(sorted(verifier().words(line))[:6])
            for name in self._names(case, line):
                said.append(chance.choice(TEMPLATES).format(path=path, name=case.index.names[name]) + f" ({words})")
        return "\n\n".join([*said, self.quotes(case)])

    @staticmethod
    def _names(case: Case, line: str) -> list[str]:
        return sorted(verifier().symbols(line) & case.index.names.keys())[:2]


# Other presentations of the same answer.

_IDENTIFIER = re.compile(r"`([A-Za-z_]\w*)`")
_BRITISH = {
    "ize": "ise",
    "izing": "ising",
    "ization": "isation",
    "behavior": "behaviour",
    "color": "colour",
    "defense": "defence",
}


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


def _code_as(text: str, start: str, end: str, indent: str = "") -> str:
    lines, inside = [], False
    for line in text.splitlines():
        if line.startswith("```"):
            lines += ["", end if inside else start, ""] if indent else [end if inside else start]
            inside = not inside
        else:
            lines.append(indent + line if inside else line)
    return "\n".join(lines)


def _paths(case: Case, write: Callable[[str], str]) -> str:
    text = case.grading.oracle
    for path in sorted(case.grading.key["files"], key=len, reverse=True):
        text = text.replace(f"`{path}`", write(path))
    return text


def presentations(case: Case) -> dict[str, str]:
    """Return the oracle's answer as others would present it."""
    oracle = case.grading.oracle

    def british(line: str) -> str:
        for word, other in _BRITISH.items():
            line = re.sub(rf"(?<=[a-z]){word}\b|\b{word}\b", other, line)
        return line

    return {
        "snake_case": _respelled(oracle, lambda parts: "_".join(parts).lower()),
        "camelCase": _respelled(oracle, lambda parts: parts[0].lower() + "".join(map(str.capitalize, parts[1:]))),
        "Words apart": _respelled(oracle, lambda parts: " ".join(parts).lower().capitalize()),
        "British spelling": _outside_code(oracle, british),
        "plural": _outside_code(oracle, lambda line: _IDENTIFIER.sub(r"`\1s`", line)),
        r"escaped \_": _outside_code(oracle, lambda line: _IDENTIFIER.sub(lambda m: m[1].replace("_", r"\_"), line)),
        "_emphasis_": _outside_code(oracle, lambda line: _IDENTIFIER.sub(r"_\1_", line)),
        "<code>": _outside_code(oracle, lambda line: _IDENTIFIER.sub(r"<code>\1</code>", line)),
        "indented code": _code_as(oracle, "", "", "    "),
        "<pre> code": _code_as(oracle, "<pre>", "</pre>"),
        "paths with lines": _paths(case, lambda path: f"`{path}#L10-L20`"),
        "absolute paths": _paths(case, lambda path: f"/app/project/{path}:12"),
        "paths as links": _paths(case, lambda path: f"[{path.rpartition('/')[2]}](./{path})"),
        "Windows line ends": oracle.replace("\n", "\r\n"),
    }


def with_quoted_lines(case: Case) -> str:
    """Return the oracle's answer with 20 lines quoted from a file that matters."""
    path = next(iter(case.grading.key["relevant_files"]), "")
    lines = [line for place, line in case.lines if place == path][:20]
    return f"{case.grading.oracle}\n\nFrom `{path}`:\n\n{fence(chr(10).join(lines))}\n"


def three_times_longer(case: Case) -> str:
    """Return the oracle's answer and twice as much that is true of the same code and said in other words.

    What is added tells of more passages that the task is about, in the manner of the oracle's evidence.
    """
    size = len(case.grading.oracle.split())
    used = set(case.grading.key["relevant"])
    added: list[str] = []
    words = 0
    for passage in case.index.passages:
        names = [name for name in case.index.names_in(passage) if name not in used][:3]
        used.update(names)
        if names and words < 2 * size:
            spelled = ", ".join(f"`{case.index.names[name]}`" for name in names)
            about = sorted(
                {
                    word
                    for _, line in [("", passage.text.decode("utf-8", "replace"))]
                    for word in re.findall(r"\b[a-z]{4,}\b", line)
                }
            )
            added.append(
                f"Beyond that, {spelled} can be read in `{passage.path}`, where {' and '.join(about[:20])} come in."
            )
            words += len(added[-1].split())
    return "\n\n".join([case.grading.oracle, *added])


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

"""Answers of known worth to a task: parts of the truth, attempts to game the verifier, and near misses.

Every function is deterministic: the same task gives the same answer.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from adapter import LoCoBenchTask
from pipeline.grading import Grading
from pipeline.markdown import as_markdown, fence
from pipeline.project import Mapping

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
SYNONYMS = dict(
    pair.split("=")
    for pair in """
allows=lets, because=since, begin=start, bug=defect, cause=reason, check=verify, correct=right, create=make,
delete=remove, error=fault, fails=breaks, fast=quick, find=locate, fix=repair, function=routine, get=obtain,
happens=occurs, important=essential, large=big, main=primary, must=has to, needs=requires, often=frequently,
problem=trouble, shows=demonstrates, small=little, start=launch, stop=halt, therefore=so, use=employ,
uses=employs, wrong=incorrect, missing=absent, multiple=several, ensure=guarantee, introduce=bring in,
separate=distinct, shared=common, returns=yields, called=invoked, before=ahead of, after=following, never=at no
time, only=solely, instead=rather, directly=straight, existing=present, current=today's, request=call,
data=information
""".replace("\n", " ")
    .strip()
    .split(", ")
)
FILLER = (
    "The system should be analysed with care. It is important to look at every part and to think about how the parts "
    "work together. A good solution takes all requirements into account and is easy to maintain. "
    "We need to make sure that "
    "everything works as expected and that nothing is forgotten. "
) * 8


@dataclass(frozen=True)
class Case:
    """One task with what its answers are made of."""

    task: LoCoBenchTask
    mapping: Mapping
    instruction: str
    grading: Grading


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


def part_of_truth(case: Case, share: float) -> str:
    """Return `share` of the oracle's sentences, drawn by the task's id, in their order."""
    sentences = units(case.grading.oracle)
    chosen = random.Random(case.task.id).sample(range(len(sentences)), max(1, round(share * len(sentences))))
    return "\n".join(sentences[index] for index in sorted(chosen))


def reworded(case: Case) -> str:
    """Return the oracle's answer with sentences in another order, synonyms, and `A calls B` as `B is called by A`."""
    sentences = units(case.grading.oracle)
    random.Random(case.task.id).shuffle(sentences)
    return "\n".join(sentence if sentence.lstrip().startswith("```") else _reword(sentence) for sentence in sentences)


def _reword(sentence: str) -> str:
    sentence = re.sub(r"(`[^`]+`) (call|use|read|write|create|check)s (`[^`]+`)", r"\3 is \2ed by \1", sentence)
    return re.sub(r"\b[a-z]+\b", lambda match: SYNONYMS.get(match[0], match[0]), sentence)


def listing(case: Case) -> str:
    return "\n".join(f"- `{path}`" for path in case.mapping.context_files)


def echo_listing_fence(case: Case) -> str:
    prompt = as_markdown(case.task.task_prompt)
    return f"{case.instruction}\n\nRelevant files:\n{listing(case)}\n\n{fence(prompt)}\n"


def project_text(case: Case) -> str:
    return fence("\n".join(f"{path}\n{case.mapping.read_text(path)}" for path in case.mapping.context_files))


def benchmark_vocabulary(case: Case, others: Sequence[Case], size: int = 400) -> str:
    """Return the words that most ground truths of the other projects share: the best dictionary that could be made."""
    spread = Counter(
        word for other in others if other.task.project_id != case.task.project_id for word in other.grading.key["words"]
    )
    return " ".join(word for word, _ in sorted(spread.items(), key=lambda item: (-item[1], item[0]))[:size])


def truths_of_project(case: Case, others: Sequence[Case]) -> list[str]:
    """Return the oracle's answers to the other tasks of the same project."""
    return [o.grading.oracle for o in others if o.task.project_id == case.task.project_id and o.task.id != case.task.id]


def truths_elsewhere(case: Case, others: Sequence[Case]) -> list[str]:
    """Return the oracle's answers to tasks of other projects: in the same language, else of the same category."""
    strange = [other for other in others if other.task.project_id != case.task.project_id]
    same = [other for other in strange if other.task.language == case.task.language]
    return [
        other.grading.oracle for other in same or strange if same or other.task.task_category == case.task.task_category
    ]

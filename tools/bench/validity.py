"""What the reward is worth: agreement with readers, frauds, small changes, and what each part of the formula does.

`python -m tools.bench.validity` measures the bundled sample and, where $LOCOBENCH_REAL names a folder that holds their
materialize.py, the real scenarios with their code; answers that expert readers graded, too (tools/bench/agreement.py).
It rewrites the tables and the figure of docs/. Exit code 1 when a promise is not kept.
"""

from __future__ import annotations

import math
import os
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from adapter import LoCoBenchAdapter, LoCoBenchLoader
from locobench.generate.make import grade, render_instruction
from locobench.generate.options import Options
from locobench.generate.project import Project
from locobench.reading import WORD, fold, is_compound
from locobench.scoring import verify
from locobench.shared.files import write_whole
from locobench.shared.installation import REPOSITORY
from locobench.shared.markdown import as_markdown
from tests.support.data_builder import extract
from tools.bench import agreement, answers
from tools.bench.agreement import FIXTURES, KINDS, Graded
from tools.bench.answers import Case

DOCS = REPOSITORY / "docs"

# Promises about frauds: the mean of every kind, and the highest single one.
FRAUD_MEAN, FRAUD_HIGHEST = 0.05, 0.15
# What a sentence more or less may change, and in what share of all cases it may be more.
SMALL, SHARE_OF_LARGER = 0.08, 0.02
NEAR_MISSES = ("another task, same project", "another project")
PAGE = "VERIFIER.md"

Scores = dict[str, list[float]]
"""Rewards (0-1) by kind of answer."""


def load_cases(data_dir: Path) -> list[Case]:
    """Build every task of `data_dir` as the adapter would, without writing it."""
    with tempfile.TemporaryDirectory() as folder:
        dataset = Path(folder) / "dataset.jsonl"
        extract(data_dir, dataset)
        loader = LoCoBenchLoader(dataset)
        adapter = LoCoBenchAdapter(loader, Path(folder), data_dir)
        projects: dict[Path, Project] = {}
        cases = []
        for task in loader:
            place = adapter._get_project_dir(task.id)
            projects[place] = projects.get(place) or Project.scan(place)
            mapping = projects[place].mapping(task.context_files)
            instruction = render_instruction(task, mapping, Options())
            cases.append(Case(task, mapping, instruction, grade(task, mapping, instruction, adapter.options)))
    return cases


def measure(cases: Sequence[Case], answers_of: Callable[[Case], dict[str, list[str]]]) -> Scores:
    """Score every kind of answer to every task."""
    rewards: defaultdict[str, list[float]] = defaultdict(list)
    for case in cases:
        for kind, texts in answers_of(case).items():
            rewards[kind] += [case.reward(text) for text in texts]
    return {kind: found for kind, found in rewards.items() if found}


def honest(case: Case, cases: Sequence[Case]) -> dict[str, list[str]]:
    """Return the oracle's answer, parts and presentations of it, translations, near misses."""
    written = FIXTURES / case.task.id
    kinds = (
        ("paraphrase", "truth, paraphrased"),
        ("german", "thorough, in German"),
        ("spanish", "thorough, in Spanish"),
    )
    return {
        "oracle": [case.grading.oracle],
        "oracle, presented otherwise": list(answers.presentations(case).values()),
        "half the oracle's answer": [answers.part_of_oracle(case, 0.5)],
        "quarter of the oracle's answer": [answers.part_of_oracle(case, 0.25)],
        **{kind: [path.read_text(encoding="utf-8") for path in written.glob(f"{name}.md")] for name, kind in kinds},
        NEAR_MISSES[0]: answers.truths_of_project(case, cases),
        NEAR_MISSES[1]: answers.truths_elsewhere(case, cases),
        "evaluation criteria": [as_markdown(case.task.evaluation_criteria)],
        "expected approach": [as_markdown(case.task.expected_approach)],
    }


def score_table(sets: dict[str, Scores], least: float = 0.0) -> str:
    """Return the mean and the highest reward of each kind in each set; kinds that stay below `least` are counted."""
    kinds = list(dict.fromkeys(kind for scores in sets.values() for kind in scores))
    shown = [kind for kind in kinds if max(max(scores.get(kind, [0.0])) for scores in sets.values()) >= least]
    lines = [
        f"| answer | {' | '.join(f'{name}: mean, highest' for name in sets)} |",
        f"|---|{'---|' * len(sets)}",
    ]
    for kind in shown:
        cells = [
            f"{statistics.mean(found):.2f}, {max(found):.2f}" if (found := scores.get(kind)) else ""
            for scores in sets.values()
        ]
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    if len(shown) < len(kinds):
        lines.append(f"| {len(kinds) - len(shown)} other kinds | {' | '.join([f'below {least:g}'] * len(sets))} |")
    return "\n".join(lines)


def frauds_that_pay(scores: Scores) -> list[str]:
    """Return the kinds that earn more than is promised."""
    return [kind for kind, found in scores.items() if statistics.mean(found) > FRAUD_MEAN or max(found) > FRAUD_HIGHEST]


# Small changes.

Changes = dict[str, list[float]]
"""How much the reward changed, by kind of change."""


def small_changes(cases: Iterable[Case], texts_of: Callable[[Case], Iterable[str]]) -> Changes:
    found: defaultdict[str, list[float]] = defaultdict(list)
    for case in cases:
        for text in texts_of(case):
            before = case.reward(text)
            for kind, changed in answers.small_changes(case, text):
                found[kind].append(abs(case.reward(changed) - before))
    return found


def change_table(sets: dict[str, Changes]) -> str:
    """Return for each kind of change how often it was tried, how often it is larger than promised, and the largest."""
    heads = [f"{name}: times | larger | most" for name in sets]
    lines = [f"| change | {' | '.join(heads)} |", f"|---|{'---|' * 3 * len(sets)}"]
    for kind in dict.fromkeys(kind for changes in sets.values() for kind in changes):
        cells = []
        for changes in sets.values():
            found = changes[kind]
            larger = sum(change > SMALL for change in found) / len(found)
            cells.append(f"{len(found):,} | {larger:.1%} | {max(found):.2f}")
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    return "\n".join(lines)


def large_changes(changes: Changes) -> float:
    """Return the share of all changes that are larger than promised."""
    every = [change for found in changes.values() for change in found]
    return sum(change > SMALL for change in every) / len(every)


# What each part of the formula does.


def _without(part: str) -> agreement.Scorer:
    """Return the reward without a part of the formula, worked out again from what the verifier measured."""

    def score(case: Case, answer: str) -> float:
        measured = case.measure(answer)
        code, scoring = case.index.code, verify.SCORING
        credit = measured["identifiers"]
        if part == "said":
            credit = {
                name: min(1.0, math.ceil(value / scoring["simple"]) * scoring["simple"])
                for name, value in credit.items()
            }
        spread = {name: 1 if part == "spread" else math.sqrt(len(code.places[name])) for name in credit}
        found = sum(credit[name] / spread[name] for name in sorted(credit))
        proposed = max(0.0, len(measured["proposed_identifiers"]) - scoring["proposed"] * found)
        untrue = len(measured["invented_identifiers"]) + proposed
        true = 1.0 if part == "true" else (found + 1) / (found + 1 + untrue)
        written = 1.0 if part == "written" else measured["written"]
        known = verify.saturate(found * true**2, scoring["names"]) * written
        others = {
            "file_references": verify.saturate(sum(measured["files"].values()), scoring["shown"]),
            "code_blocks": verify.saturate(measured["lines_shown"], scoring["shown"]),
            "length_score": min(1.0, measured["words"] / scoring["length_words"]),
        }
        weights = {name: weight for name, weight in scoring["weights"].items() if name != part}
        components = {"keyword_overlap": known, **{name: known * value for name, value in others.items()}}
        return verify.weigh(components, weights)

    return score


PARTS = {
    "nothing left out": "",
    "that many files share a name": "spread",
    "that a list says nothing": "said",
    "what is invented": "true",
    "whether somebody wrote it": "written",
    "file_references": "file_references",
    "code_blocks": "code_blocks",
    "length_score": "length_score",
}
FIGURES: tuple[tuple[str, Callable[[Sequence[Graded]], float]], ...] = (
    ("pairs", agreement.in_order),
    ("Spearman", agreement.correlation),
    ("brief > bluff", lambda found: agreement.beats(found, "brief", "bluff")),
    ("bluff", lambda found: agreement.mean(found, "bluff")),
)
Sets = dict[str, Callable[[agreement.Scorer], list[Graded]]]
"""Scores the answers of a set, by its name."""


def ablation_table(sets: Sets) -> str:
    """Return what the figures are without each part of the formula."""
    heads = [f"{name} ({short})" for name, _ in FIGURES for short in sets]
    lines = [f"| without | {' | '.join(heads)} |", f"|---|{'---|' * len(heads)}"]
    for name, part in PARTS.items():
        found = [grade(_without(part)) for grade in sets.values()]
        cells = [f"{figure(answers):.2f}" for _, figure in FIGURES for answers in found]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


FACTORS = (0.5, 0.67, 0.8, 1.0, 1.25, 1.5, 2.0)


def range_table(sets: Sets) -> str:
    """Return for each constant the values next to its own at which every promise about graded answers is kept."""
    lines = ["| constant | value | every promise is kept from | to |", "|---|---|---|---|"]
    for name in ("names", "simple", "shown", "proposed", "frequent"):
        own = verify.SCORING[name]
        values = [own * factor for factor in FACTORS if name in ("names", "shown", "proposed") or own * factor <= 1]
        kept = [value for value in values if _keeps(sets, {name: value})]
        lines.append(f"| {name} | {own:g} | {min(kept, default=own):.2g} | {max(kept, default=own):.2g} |")
    return "\n".join(lines)


def _keeps(sets: Sets, scoring: dict[str, Any]) -> bool:
    def score(case: Case, answer: str) -> float:
        return case.reward(answer, **scoring)

    found = [grade(score) for grade in sets.values()]
    return all(measure(answers) >= least for answers in found for _, measure, least in agreement.PROMISES)


# The pages.


def replace_section(page: Path, name: str, text: str) -> None:
    """Put `text` between the comments `<!-- name -->` and `<!-- end name -->` of a Markdown page."""
    before, start, rest = page.read_text(encoding="utf-8").partition(f"<!-- {name} -->\n")
    _, end, after = rest.partition(f"<!-- end {name} -->")
    if not start or not end:
        raise SystemExit(f"{page}: no section {name}")
    write_whole(page, f"{before}{start}{text}\n{end}{after}")


def truths(cases: list[Case]) -> str:
    """Return how far the ground truths know the code bases they are about, in a sentence."""
    named = existing = rare = 0
    for case in cases:
        words = WORD.findall(as_markdown(case.task.ground_truth))
        names = {fold(word) for word in words if is_compound(word)} - set(case.grading.key["given"])
        named += len(names)
        existing += sum(name in case.index.names for name in names)
        rare += sum(name in case.index.names and len(case.index.code.places[name]) <= 3 for name in names)
    return (
        f"{len(cases)} truths name {named} identifiers that their task does not; {existing} of them"
        f" ({existing / max(1, named):.0%}) occur in the code base, and {rare / len(cases):.1f} a truth are in at most"
        " three files, so that nobody guesses them."
    )


def main() -> int:
    cases = {"sample": load_cases(REPOSITORY / "data" / "sample")}
    sets: Sets = {"sample": lambda score: agreement.sample_answers(cases["sample"], score)}
    kit = agreement.kit_folder()
    if real := os.environ.get("LOCOBENCH_REAL"):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, str(Path(real) / "materialize.py"), f"{folder}/data", "--real-code"]
            subprocess.run(command, check=True)
            cases["real"] = load_cases(Path(folder) / "data")
        if kit:
            sets["real"] = lambda score: agreement.kit_answers(cases["real"], kit, score)
    else:
        print("LOCOBENCH_REAL names no folder with real scenarios: the bundled sample only")
    kept = _worth(cases)
    found = {name: graded(Case.reward) for name, graded in sets.items()}
    _put("agreement", agreement.table(found))
    kept &= all(promise(one) >= least for one in found.values() for _, promise, least in agreement.PROMISES)
    table, as_little = laundered(sets)
    _put("laundered", table)
    kept &= as_little
    changes: dict[str, Changes] = {}
    for name in sets:
        changes[name] = changes_of(name, cases[name], kit)
        kept &= large_changes(changes[name]) <= SHARE_OF_LARGER
    _put("changes", change_table(changes))
    for name, make in (("ablation", ablation_table), ("ranges", range_table)):
        _put(name, make(sets))
    if len(sets) > 1:
        names = {"sample": "bundled sample", "real": "real scenarios"}
        agreement.draw({names[name]: one for name, one in found.items()}, DOCS / "verifier_agreement.svg")
    return 0 if kept else 1


def laundered(sets: Sets) -> tuple[str, bool]:
    """Return what bluffs earn that are presented as proposals, and whether that is as little as promised of bluffs."""
    rows: dict[str, list[str]] = {f"{kind}, as a proposal": [] for kind in ("bluff", "shortbluff")}
    least = {name: bound for name, _, bound in agreement.PROMISES}["bluff, mean reward"]
    kept = True
    for graded in sets.values():
        found = graded(lambda case, answer: case.reward(answers.as_proposal(answer)))
        for kind, cells in zip(("bluff", "shortbluff"), rows.values(), strict=True):
            cells.append(f"{agreement.mean(found, kind):.2f}")
            kept &= -agreement.mean(found, kind) >= least
    lines = [f"| mean reward | {' | '.join(sets)} |", f"|---|{'---|' * len(sets)}"]
    return "\n".join([*lines, *(f"| {row} | {' | '.join(cells)} |" for row, cells in rows.items())]), kept


def _put(section: str, table: str, page: str = PAGE) -> None:
    print(f"\n{section}:\n{table}", flush=True)
    replace_section(DOCS / page, section, table)


def _worth(cases: dict[str, list[Case]]) -> bool:
    """Measure answers of known worth in every set; return whether the promises about them are kept."""
    frauds, programs, others = {}, {}, {}
    for name, found in cases.items():
        frauds[name] = measure(found, lambda case: {kind: [text] for kind, text in answers.frauds(case).items()})
        programs[name] = measure(found, lambda case: {kind: [text] for kind, text in answers.programs(case).items()})
        others[name] = measure(found, lambda case, found=found: honest(case, found))  # type: ignore[misc]
        _put(f"truths {name}", truths(found), "DATA_EXPLORATION.md")
    _put("frauds", score_table(frauds, FRAUD_MEAN))
    _put("programs", score_table(programs))
    _put("others", score_table(others))
    paying = {kind for scores in frauds.values() for kind in frauds_that_pay(scores)}
    if paying:
        print(f"earn more than is promised: {', '.join(sorted(paying))}")
    return not paying and all(set(scores["oracle"]) == {1.0} for scores in others.values())


def changes_of(name: str, cases: list[Case], kit: Path | None) -> Changes:
    """Measure small changes of every graded answer of a set."""
    if name == "sample":
        folders = {case.task.id: [FIXTURES / case.task.id / f"{kind}.md" for kind in KINDS] for case in cases}
    else:
        labels = agreement.kit_labels(kit) if kit else {}
        folders = {
            task_id: [kit / "answers" / f"{label}.{kind}.md" for kind in KINDS]
            for label, task_id in labels.items()
            if kit
        }

    def texts_of(case: Case) -> list[str]:
        return [path.read_text(encoding="utf-8") for path in folders.get(case.task.id, ()) if path.is_file()]

    return small_changes(cases, texts_of)


if __name__ == "__main__":
    sys.exit(main())

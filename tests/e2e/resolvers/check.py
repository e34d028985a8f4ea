"""How well do the keys agree with independent resolvers? Precision and recall of items, by language and kind.

`python -m tests.e2e.resolvers.check REPOS [NAME...]` prints a table and each difference: REPOS holds checkouts.
`python -m tests.e2e.resolvers.check FAMILY --together LANGUAGE` does so across the checkouts in the folder FAMILY.
The truth comes from `facts.py` alone, which shares nothing with the derivation: items are named by the resolver's own
positions and syntax trees, files are those that the build system sees. Only the questions themselves are ours.
"""

from __future__ import annotations

import hashlib
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from locobench.derive.code.build import build
from locobench.derive.code.languages import LANGUAGES
from locobench.derive.code.scope import scopes, texts
from locobench.derive.code.tree import Family, Repository
from locobench.derive.finding import Finding
from locobench.derive.kinds import CHECKED
from locobench.derive.structure import Structure
from tests.e2e.resolvers.facts import Facts, facts_of

FUNCTIONS = ("function", "method", "constructor")

REPOSITORIES = {
    "click": ("python",), "hono": ("typescript",), "gin": ("go",),
    "commons-cli": ("java",), "Slim": ("php",), "hiredis": ("c",), "inspect_ai": ("python",),
    "prometheus": ("go", "typescript"),
}  # fmt: skip

UNDECIDED: dict[str, str] = {}
"""Item of a difference -> why the resolver cannot decide it, found by reading the code."""


@dataclass
class Score:
    """How the answers of a kind compare."""

    questions: int = 0
    items: int = 0
    found: int = 0
    common: int = 0
    differences: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        return self.common / self.items if self.items else 1.0

    @property
    def recall(self) -> float:
        return self.common / self.found if self.found else 1.0


def truth(one: Finding, facts: Facts) -> set[str]:
    """Return the right answer by the resolver's facts; across repositories, what is outside the target's."""
    return {item for item in anywhere(one, facts) if not one.outside or not item.startswith(f"{one.outside}/")}


def anywhere(one: Finding, facts: Facts) -> set[str]:
    if one.kind == "importers":
        return closure(one.target, facts.importers)
    if one.kind == "subtypes":
        return closure(one.target, facts.subtypes)
    return users(one.target, one.depth, facts)


def closure(start: str, further: Callable[[str], set[str]]) -> set[str]:
    """Return everything that steps from `start` reach, without it."""
    found: set[str] = set()
    pending = [start]
    while pending:
        for one in further(pending.pop()) - found - {start}:
            found.add(one)
            pending.append(one)
    return found


def users(target: str, depth: int, facts: Facts) -> set[str]:
    """Return who uses an item in so many steps, 0 for any number."""
    found: set[str] = set()
    front, step = [target], 0
    while front and (depth == 0 or step < depth):
        step += 1
        reached: set[str] = set()
        for one in front:
            # A constructor is used where its class is named.
            meant = one.rpartition(".")[0] if facts.kind(one) == "constructor" else one
            reached |= {user for user in facts.users(meant) if not is_inside(user, meant)}
        fresh = {one for one in reached - found if not is_inside(one, target)}
        found |= fresh
        front = [one for one in fresh if facts.kind(one) in FUNCTIONS]
    return found


def is_inside(item: str, other: str) -> bool:
    return item == other or item.startswith(other + ".")


def findings_of(repository: Repository, language: str, most: int) -> list[Finding]:
    """Return the questions that the rule allows, asked or not; of each kind at most so many, drawn by lot."""
    scope = scopes(repository.tree(repository.commit()))[0][language]
    index = build(scope.language, texts(repository, scope), together=isinstance(repository, Family))
    structure = Structure(index)
    drawn = sorted(structure.findings(), key=lambda one: hashlib.sha256(f"{one.kind} {one.target}".encode()).digest())
    taken: Counter[str] = Counter()
    found = []
    for one in drawn:
        taken[one.kind] += 1
        if taken[one.kind] <= most:
            found.append(one)
    return found


def compare(findings: list[Finding], facts: Facts) -> dict[str, Score]:
    """Compare keys with what a resolver says."""
    scores: dict[str, Score] = defaultdict(Score)
    for one in findings:
        right, answer, score = truth(one, facts), set(one.answer), scores[one.kind]
        undecided = {item for item in right ^ answer if f"{one.target} -> {item}" in UNDECIDED}
        right, answer = right - undecided, answer - undecided
        score.questions += 1
        score.items += len(answer)
        score.found += len(right)
        score.common += len(answer & right)
        if answer != right:
            more = [*(f"+{item}" for item in sorted(answer - right)), *(f"-{item}" for item in sorted(right - answer))]
            score.differences.append(f"{one.kind} {one.target} (depth {one.depth}): {'; '.join(more)}")
    return scores


def check(root: Path, language: str, most: int = 10_000) -> dict[str, Score]:
    """Check a repository's questions in a language, at most so many hard ones."""
    with facts_of(language, root.resolve()) as facts:
        return compare(findings_of(Repository(root), language, most), facts)


def check_together(root: Path, language: str, most: int = 10_000) -> dict[str, Score]:
    """Check the questions across the checkouts in a folder."""
    family = Family([Repository(path) for path in sorted(root.iterdir()) if (path / ".git").exists()])
    with facts_of(language, root.resolve()) as facts:
        return compare(findings_of(family, language, most), facts)


def lines(scores: dict[str, Score], name: str, language: str) -> Iterator[str]:
    """Yield the rows of the table."""
    for kind in CHECKED:
        if kind in scores:
            score = scores[kind]
            cells = (LANGUAGES[language].title, name, kind, score.questions, score.items)
            yield f"| {' | '.join(map(str, cells))} | {score.precision:.3f} | {score.recall:.3f} |"


def main(arguments: list[str]) -> int:
    """Print the table and the differences."""
    repositories, *names = arguments
    differences = []
    if names[:1] == ["--together"]:
        scores = check_together(Path(repositories), names[1])
        print(*lines(scores, Path(repositories).name, names[1]), sep="\n")
        print(*(one for score in scores.values() for one in score.differences), sep="\n")
        return 1 if any(score.differences for score in scores.values()) else 0
    for name in names or REPOSITORIES:
        for language in REPOSITORIES[name]:
            scores = check(Path(repositories) / name, language)
            for line in lines(scores, name, language):
                print(line, flush=True)
            differences += [f"{name}: {one}" for score in scores.values() for one in score.differences]
    print(*differences, sep="\n")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

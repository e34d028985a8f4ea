"""Whether each claim's program notices a change of what it names: `python -m tools.claims.mutants [--here] [PART]`.

A mutant is a claim with one line changed: of the project's files or of the code that its program takes from the truth.
The lines that share most names with the claim come first. A program has to fail on a mutant of its project, or of the
code that it takes; each piece of code has to be checked by one of the programs that take it. `--here` uses this
machine's compilers, no images.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from tools.claims import SNIPPET, Claim, Outcome, claims, code_of, images_of, project_of, run_here, run_in_images

# Of a program's mutants so many are tried before it counts as blind.
PROJECT_TRIES, CODE_TRIES = 16, 8
_SWAPS = {"==": "!=", "===": "!==", "<": ">=", ">": "<=", "&&": "||", "and": "or", "true": "false", "True": "False"}
_SWAPS |= {new: old for old, new in _SWAPS.items()}

_CHANGES: list[tuple[re.Pattern[str], Callable[[re.Match[str]], str]]] = [
    (re.compile(r"(?<= )(===?|!==?|<=?|>=?|&&|\|\||and|or)(?= )"), lambda found: _SWAPS[found[0]]),
    (re.compile(r"\b(true|false|True|False)\b"), lambda found: _SWAPS[found[0]]),
    (re.compile(r"(?<=\()!(?=[\w$(])|\bnot (?=\w)"), lambda found: ""),
    (re.compile(r"(?<= )[-+](?= [\w($])"), lambda found: "-" if found[0] == "+" else "+"),
    (re.compile(r"(?<![\w.\"'#])(0o)?(\d+)(?![\w.\"'])"), lambda found: f"{found[1] or ''}{int(found[2]) + 1}"),
    (re.compile(r"(?<=[+-])="), lambda found: "= 2 *"),
    (re.compile(r"\b(break|continue)\b"), lambda found: "continue" if found[0] == "break" else "break"),
    # A call or an assignment that is left out; a declaration stays, as nothing would compile without it.
    (re.compile(r"^(?:const|let|var) .* = require\(.*\);$"), lambda found: "{}"),
    (
        re.compile(r"^(\s*)(?!(?:return|throw|raise|yield)\b)[\w.$:>\[\]'-]+(?:\(.*\)\??| [-+]?= .*?);?$"),
        lambda found: found[1] + "{}",
    ),
]
_NAME = re.compile(r"[A-Za-z_]\w{2,}")
_PROSE = re.compile(r"\s*(//|/?\*|#(?!define)|\"\"\"|import\b|use\b|using\b|package\b)")
# A compiler that refuses a mutant says nothing about the program.
_STILLBORN = re.compile(
    r"\.\w+:\d+(:\d+)?: (fatal )?error:|\.go:\d+:\d+: |error(\[E| TS| CS)\d+|SyntaxError|Parse error|syntax error"
)
_SECONDS = 60
_SCRIPT = ".mutant.sh"


def changed(line: str) -> list[str]:
    """Return all mutants of a line: one operator, number or condition changed, or the line left out."""
    if _PROSE.match(line):
        return []
    return [pattern.sub(change, line, count=1) for pattern, change in _CHANGES if pattern.search(line)]


def project_mutants(claim: Claim) -> Iterator[Claim]:
    """Yield the claim over the project with one line changed, nearest to what the claim names first."""
    filled = claim.filled()
    program = "\n".join([filled.run, *filled.files.values()])
    texts = {path: text for path, text in project_of(claim.scenario).items() if path not in filled.files}
    said = Counter(_NAME.findall(" ".join(re.findall(r"`([^`]+)`", claim.says))))
    names = Counter({*_NAME.findall(program)}) + Counter(dict.fromkeys(said, 3))
    common = Counter(name for text in texts.values() for line in text.split("\n") for name in {*_NAME.findall(line)})
    ranked = []
    for path, text in texts.items():
        lines = text.split("\n")
        for number, line in enumerate(lines):
            ways = changed(line)
            if not ways or Path(path).suffix in (".md", ".json", ""):
                continue
            near = {name for around in (line, *_headers(lines, number)) for name in _NAME.findall(around)}
            score = sum(names[name] / common[name] for name in near & names.keys())
            # What a program looks up word for word it misses in any case, so that this shows least.
            ranked.append((line.strip() in program, "test" in path, -score, path, number, ways[0]))
    for *_, path, number, new in sorted(ranked):
        lines = texts[path].split("\n")
        mutant = "\n".join([*lines[:number], new, *lines[number + 1 :]])
        yield replace(claim, files={path: mutant, **claim.files})


def _headers(lines: list[str], number: int) -> Iterator[str]:
    """Yield the lines above that are indented less and less: the blocks that hold the line."""
    margin = len(lines[number]) - len(lines[number].lstrip())
    for line in reversed(lines[:number]):
        if line.strip() and line.strip() not in "{}" and len(line) - len(line.lstrip()) < margin:
            margin = len(line) - len(line.lstrip())
            yield line


def code_mutants(claim: Claim) -> dict[tuple[str, ...], list[Claim]]:
    """Return, by piece of the truth's code, the claim with one line of that piece changed; by line."""
    code = code_of(claim.scenario)
    found = {}
    for place in {found[0].strip() for text in (claim.run, *claim.files.values()) for found in SNIPPET.finditer(text)}:
        taken = [line.strip() for line in replace(claim, run=place, files={}).filled(code).run.split("\n")]
        mutants = []
        for at, piece in enumerate(code):
            for number, line in enumerate(piece):
                for new in changed(line) if line.strip() in taken else ():
                    other = [*piece[:number], new, *piece[number + 1 :]]
                    with suppress(LookupError):  # the program would not even start
                        mutants.append(claim.filled([*code[:at], other, *code[at + 1 :]]))
        found[tuple(taken)] = mutants
    return found


@dataclass
class Trials:
    """Runs mutants and counts them."""

    images: dict[str, str] | None
    """By scenario; None: on this machine."""
    total: int = 0
    noticed: int = 0

    def missed(self, mutants: Iterable[Claim], tries: int) -> bool | None:
        """Whether none of the first `tries` mutants that compile is noticed; None when there is no such mutant."""
        missed = None
        for mutant in mutants:
            outcome = self._run(mutant)
            if not outcome.holds and _STILLBORN.search(outcome.output):
                continue
            missed, tries = outcome.holds, tries - 1
            self.total, self.noticed = self.total + 1, self.noticed + (not missed)
            if not missed or tries == 0:
                break
        return missed

    def _run(self, mutant: Claim) -> Outcome:
        # A mutant may never end: what it has started ends with it.
        limited = f"exec timeout -k 1 {_SECONDS} sh -eu {_SCRIPT}"
        mutant = replace(mutant, run=limited, files={**mutant.files, _SCRIPT: mutant.filled().run})
        if self.images is None or not mutant.image:
            return run_here(mutant)
        return run_in_images([mutant], self.images)[0]


def main(arguments: list[str]) -> int:
    """Print each program and each piece of code that misses all of its mutants; return 1 when there is one."""
    here = "--here" in arguments
    chosen = claims(next((argument for argument in arguments if argument != "--here"), ""))
    trials = Trials(None if here else images_of(chosen))
    blind = 0
    unchecked: dict[tuple[str, tuple[str, ...]], bool] = {}
    for claim in chosen:
        unseen = trials.missed(project_mutants(claim), PROJECT_TRIES) is not False
        for piece, mutants in code_mutants(claim).items():
            if unseen or unchecked.get((claim.scenario, piece), True):
                missed = trials.missed(mutants, CODE_TRIES)
                unseen = unseen and missed is not False
                if missed is not None:
                    unchecked[claim.scenario, piece] = missed and unchecked.get((claim.scenario, piece), True)
        if unseen:
            blind += 1
            print(f"BLIND  {claim}  {claim.says[:80]}", flush=True)
    # A single line is looked up by how it starts, which is a check of its own.
    alone = [key for key, missed in unchecked.items() if missed and len(key[1]) > 1]
    for scenario, piece in alone:
        print(f"BLIND  {scenario}  {' '.join(piece)[:100]}")
    print(f"{len(chosen)} programs, {blind} blind; {len(unchecked)} pieces of code, {len(alone)} that none checks")
    print(f"{trials.total} mutants, {trials.noticed} noticed")
    return 1 if blind or alone else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

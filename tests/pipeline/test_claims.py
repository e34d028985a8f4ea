"""The programs that decide what the sample's ground truths say: each stands for its text. tests/e2e runs them."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest

from tests.conftest import REPOSITORY
from tools.claims import SNIPPET, Claim, claims, code_of, truth_of
from tools.claims.mutants import Trials, code_mutants, project_mutants


def test_every_claim_stands_in_the_ground_truth() -> None:
    assert [str(claim) for claim in claims() if " ".join(claim.says.split()) not in truth_of(claim.scenario)] == []


def test_code_that_a_program_takes_stands_in_the_ground_truth() -> None:
    def left(claim: Claim) -> bool:
        filled = claim.filled()
        return any(SNIPPET.search(text) for text in (filled.run, *filled.files.values()))

    assert [str(claim) for claim in claims() if left(claim)] == []


def test_no_program_retypes_the_code_of_the_truth() -> None:
    def retyped(claim: Claim) -> set[tuple[str, str]]:
        lines = [line.strip() for text in (claim.run, *claim.files.values()) for line in text.split("\n")]
        pairs = {pair for pair in pairwise(lines) if all(len(line) > 20 for line in pair)}
        code = [[line.strip() for line in piece] for piece in code_of(claim.scenario)]
        return pairs & {pair for piece in code for pair in pairwise(piece)}

    assert {str(claim): pairs for claim in claims() if (pairs := retyped(claim))} == {}


def test_a_program_gets_the_code_as_the_truth_has_it_now() -> None:
    claim = Claim("any", 1, "", "{\n    <<< if (a ... } >>>\n}\n<<< c; >>>\n<<< } else ... >>>\n")
    code = [["f() {", "  if (a < b) {", "    c;", "  }", "}"], ["} else {", "}"]]
    assert claim.filled(code).run == "{\n    if (a < b) {\n      c;\n    }\n}\nc;\n} else {\n}\n"
    code[0][1] = "  if (a >= b) {"
    assert "if (a >= b) {\n      c;" in claim.filled(code).run
    code[0][1] = "  if (!a) {"
    with pytest.raises(LookupError, match="holds 'if \\(a', up to '}', 0 times"):
        claim.filled(code)


def test_a_mutation_run_tells_a_program_that_looks_from_one_that_does_not() -> None:
    scenario = "python_api_quota_medium_021_integration_testing_easy_01"
    files = {"taken": "<<< if window.estimate ... >>>"}
    run = "grep -q 'not bucket' taken && grep -q 'gained = int(elapsed' tollkeeper/limiter.py"
    looks = Claim(scenario, 1, "`_refill` in `TokenBucket`", run, files, image=False)
    trials = Trials(images=None)
    assert not trials.missed(project_mutants(looks), 16)
    assert [trials.missed(mutants, 8) for mutants in code_mutants(looks).values()] == [False]
    assert trials.noticed == 2 <= trials.total
    blind = replace(looks, run="cat taken")
    assert trials.missed(project_mutants(blind), 2)
    assert [trials.missed(mutants, 2) for mutants in code_mutants(blind).values()] == [True]
    assert trials.noticed == 2


def test_the_table_in_the_docs_counts_the_programs() -> None:
    text = (REPOSITORY / "docs" / "DATA_EXPLORATION.md").read_text(encoding="utf-8")
    names = {"C++": "cpp", "C#": "csharp"}
    rows = dict(re.findall(r"^\| ([\w+#]+) \| (\d+) \| \d+ \|$", text, re.M))
    counted = Counter(claim.scenario.partition("_")[0] for claim in claims())
    assert {names.get(name, name.lower()): int(number) for name, number in rows.items()} == counted

"""Render an HTML page about the derived questions: kinds by difficulty, examples, what was left out and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jinja2

from locobench.dataset.catalog import DIFFICULTIES
from locobench.derive.code.languages import LANGUAGES
from locobench.derive.kinds import KINDS
from locobench.derive.report import Report

EXAMPLES = 2
"""Questions to show for each language and kind of a repository."""


def page(reports: Sequence[Report]) -> bytes:
    """Return the HTML page (UTF-8); the same input gives the same bytes."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    asked = [one for report in reports for one in report.asked]
    counts = Counter((one["derived"]["kind"], one["difficulty"]) for one in asked)
    text = environment.get_template("page.html.j2").render(
        reports=reports,
        total=len(asked),
        hard=sum(report.count(hard=True) for report in reports),
        control=sum(report.count(hard=False) for report in reports),
        kinds=[(name, kind) for name, kind in KINDS.items() if any(counts[name, d] for d in DIFFICULTIES)],
        difficulties=DIFFICULTIES,
        counts=counts,
        examples=[_examples(report) for report in reports],
        titles={name: language.title for name, language in LANGUAGES.items()},
        unchecked=sorted(
            {
                f"{KINDS[one['derived']['kind']].title} in {LANGUAGES[one['language']].title}"
                for one in asked
                if not one["derived"]["checked"] and one["derived"]["tier"] == "syntax"
            }
        ),
        has_history=any(one["derived"]["family"] == "history" for one in asked),
    )
    return text.encode()


def _examples(report: Report) -> list[dict[str, Any]]:
    shown: Counter[tuple[str, str]] = Counter()
    found = []
    for one in report.asked:
        kind = one["language"], one["derived"]["kind"]
        shown[kind] += 1
        if shown[kind] <= EXAMPLES:
            found.append(one)
    return found

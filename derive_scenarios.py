#!/usr/bin/env python3
"""Derive scenarios with exact answers from git repositories, in the benchmark's own layout."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

from locobench.shared.command_line import COUNT, DONE, NOTHING_DONE, PATH, argument, option, script
from locobench.shared.installation import EXTRACT
from locobench.shared.terminal import complain, progress, say


@script(f"Derive scenarios with exact answers from git repositories, as a data folder that {EXTRACT} reads.")
@argument("repository", type=PATH, nargs=-1, required=True)
@option("--output_dir", type=PATH, default="data/derived", help="Data folder to write.")
@option("--revision", metavar="REV", default="HEAD", help="Commit to read.")
@option("--max_questions", type=COUNT, default=60, help="Most hard questions per repository and language.")
@option("--history", type=COUNT, default=15, help="Most questions from the history of each repository.")
@option("--together", is_flag=True, help="Put the repositories into one project and ask only across them.")
@option("--quiet", is_flag=True, help="No progress and no summary.")
def main(
    repository: tuple[Path, ...],
    output_dir: Path,
    quiet: bool,
    **choices: Any,
) -> int:
    """Run the command; the exit code is 1 if a repository yields no question."""
    from locobench.derive import report as derived
    from locobench.derive.run import derive
    from locobench.shared.claim import claim_beforehand

    reports = derive(
        repository,
        output_dir,
        derived.Choice(**choices),
        watch=partial(progress, quiet=quiet),
    )
    for report in reports:
        for note in report.notes:
            complain(f"{report.name}: {note}")
        if not report.scenarios:
            complain(f"{report.name}: no question: {'. '.join(map(str.strip, report.why_no_more()))}")
        elif not quiet:
            control = report.count(hard=False)
            say(f"{report.name}: {report.count(hard=True)} hard and {control} control questions")
            for line in report.why_no_more():
                say(f"{report.name}: {line}")
    total = sum(len(report.scenarios) for report in reports)
    if total and not quiet:
        say(claim_beforehand(sum(bool(report.scenarios) for report in reports)))
        kinds = Counter(one["derived"]["kind"] for report in reports for one in report.scenarios)
        say("By kind: " + ", ".join(f"{kind} {number}" for kind, number in kinds.most_common()))
        say(f"{total} scenarios written to {output_dir}")
    return DONE if all(report.scenarios for report in reports) else NOTHING_DONE


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Derive scenarios with exact answers from git repositories, in the benchmark's own layout."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from locobench.shared.command_line import COUNT, DONE, NOTHING_DONE, PATH, argument, option, script
from locobench.shared.installation import EXTRACT
from locobench.shared.terminal import complain, progress, say


@script(f"Derive scenarios with exact answers from git repositories: a data folder as {EXTRACT} reads it.")
@argument("repository", type=PATH, nargs=-1, required=True)
@option("--output_dir", type=PATH, default="data/derived", help="Data folder to write.")
@option("--revision", metavar="REV", default="HEAD", help="Commit to look at.")
@option("--scip", type=PATH, metavar="FILE", help="SCIP index of that commit, or auto to run the indexers installed.")
@option("--languages", multiple=True, metavar="NAME ...", help="Languages to look at (default: all that are there).")
@option("--max_questions", type=COUNT, default=60, help="Hard questions of a language, at most.")
@option("--history", type=COUNT, default=15, help="Questions from the history of a repository, at most.")
@option("--together", is_flag=True, help="Lay the repositories side by side and ask across them.")
@option("--with_tests", is_flag=True, help="Look at tests, too.")
@option("--quiet", is_flag=True, help="No progress and no summary.")
def main(
    repository: tuple[Path, ...], output_dir: Path, languages: tuple[str, ...], quiet: bool, **choices: Any
) -> int:
    """Run the command; the exit code is 1 if a repository yields no question."""
    from locobench.dataset.catalog import language_name
    from locobench.derive.code.languages import LANGUAGES
    from locobench.derive.report import Choice, why_none
    from locobench.derive.run import derive
    from locobench.derive.scenarios import PAGE
    from locobench.shared.claim import claim_beforehand
    from locobench.shared.errors import InputError

    wanted = [language_name(name) for name in languages]
    if unknown := sorted(set(wanted) - LANGUAGES.keys()):
        raise InputError(f"--languages: unknown: {', '.join(unknown)} (known: {', '.join(LANGUAGES)})")
    reports = derive(
        repository,
        output_dir,
        Choice(languages=wanted, **choices),
        watch=lambda files, total, label: progress(files, total, label, quiet=quiet),
    )
    for report in reports:
        for note in report.notes:
            complain(f"{report.name}: {note}")
        for own in report.languages:
            if own.index and not quiet:
                say(f"{report.name}: {own.language}: {own.index}")
        if not report.asked:
            complain(f"{report.name}: no question: {why_none(report)}")
        elif not quiet:
            control = report.count(hard=False)
            say(f"{report.name}: {report.count(hard=True)} questions, and {control} beside them as a control group")
    total = sum(len(report.asked) for report in reports)
    if total and not quiet:
        say(claim_beforehand(sum(bool(report.asked) for report in reports)))
        say(f"{total} scenarios written to {output_dir}; {output_dir / PAGE} shows them")
    return DONE if all(report.asked for report in reports) else NOTHING_DONE


if __name__ == "__main__":
    main()

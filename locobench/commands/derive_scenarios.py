"""Derive scenarios with exact answers from git repositories, in the benchmark's own layout."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from locobench.commands import cli
from locobench.shared.installation import EXTRACT


def build_parser() -> cli.Parser:
    """Return the argument parser."""
    parser = cli.Parser(
        f"Derive scenarios with exact answers from git repositories: a data folder as {EXTRACT} reads it."
    )
    parser.add_argument("repository", type=Path, nargs="+", help="git repository: a checkout or a bare one")
    parser.flag("output_dir", type=Path, default=cli.DERIVED_FOLDER, help="data folder to write")
    parser.flag("revision", default="HEAD", metavar="REV", help="commit to look at")
    parser.flag("scip", type=Path, metavar="FILE", help="SCIP index of that commit, which makes more questions exact")
    parser.flag("languages", nargs="+", metavar="NAME", help="languages to look at (default: all that are there)")
    parser.flag("max_questions", type=cli.count, default=60, help="hard questions of a language, at most")
    parser.flag("history", type=cli.count, default=15, help="questions from the history of a repository, at most")
    parser.flag("with_tests", action="store_true", help="look at tests, too")
    parser.flag("quiet", action="store_true", help="no progress and no summary")
    return parser


def main(argv: list[str] | None) -> int:
    """Run the command and return the exit code: 0 done, 1 some repository yields no question. InputError means 2."""
    parser = build_parser()
    options = parser.parse_args(argv)
    from locobench.derive.code.languages import LANGUAGES
    from locobench.derive.report import Choice, why_none
    from locobench.derive.run import derive
    from locobench.derive.scenarios import PAGE
    from locobench.shared.claim import claim_beforehand

    if unknown := sorted(set(options.languages or ()) - LANGUAGES.keys()):
        parser.error(f"--languages: unknown: {', '.join(unknown)} (known: {', '.join(LANGUAGES)})")
    say = (lambda _: None) if options.quiet else cli.say
    reports = derive(
        options.repository,
        options.output_dir,
        Choice(
            revision=options.revision,
            languages=options.languages or (),
            max_questions=options.max_questions,
            history=options.history,
            with_tests=options.with_tests,
            scip=options.scip,
        ),
        watch=lambda files, total, label: cli.progress(files, total, label, quiet=options.quiet),
    )
    for report in reports:
        for note in report.notes:
            cli.complain(f"{report.name}: {note}")
        if report.asked:
            beside = report.count(hard=False)
            say(f"{report.name}: {report.count(hard=True)} questions, and {beside} beside them as a control group")
        else:
            cli.complain(f"{report.name}: no question: {why_none(report)}")
    total = sum(len(report.asked) for report in reports)
    if total:
        say(claim_beforehand(sum(bool(report.asked) for report in reports)))
        say(f"{total} scenarios written to {options.output_dir}; {options.output_dir / PAGE} shows them")
    return cli.DONE if all(report.asked for report in reports) else cli.NOTHING_DONE


command = partial(cli.run, main)
"""Entry point for the checkout's script and the installed command."""

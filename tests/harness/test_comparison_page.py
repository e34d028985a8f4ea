"""The page of a comparison: verdict in words, forest plot, differences of tasks, several arms."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from harness.compare.comparison import compare, compare_arms
from harness.compare.sentences import plain_verdict, verdict_sentence
from harness.compare.verdicts import Comparison
from harness.models import EvalResult, GradeResult, Outcome, VerifierMetrics
from harness.report.forest import forest
from harness.report.html import Arm, render
from harness.reporter import Reporter
from tests.harness.test_html_report import HOSTILE, Page, browser, listed, pages
from tests.support.results import arm, run
from tools.bench.picture import BANNER, page

__all__ = ["browser"]


def scored(scores: dict[str, float], config: str = "base", **fields: Any) -> list[EvalResult]:
    """A run a task with this score."""
    return [run(task, config, score=score, passed=score >= 0.7, **fields) for task, score in scores.items()]


def tasks(count: int, *, start: float, step: float = 0.0) -> dict[str, float]:
    return {f"task-{number:03}": start + step * number for number in range(count)}


def shown(a: list[EvalResult], b: list[EvalResult]) -> str:
    return render([Arm("plain", a), Arm("search", b)], compare(a, b, label_a="plain", label_b="search"))


@pytest.mark.parametrize(
    ("after", "sentence"),
    [
        (10, "B is better than A, by more than chance explains."),
        (0, "B is worse than A, by more than chance explains."),
        (5, "No evidence that B is better or worse than A."),
    ],
)
def test_the_verdict_is_said_in_plain_words(after: int, sentence: str) -> None:
    names = [f"t{number}" for number in range(10)]
    a, b = arm(dict.fromkeys(names, 5), 10), arm(dict.fromkeys(names, after), 10)
    assert plain_verdict(compare(a, b)) == sentence


def test_too_little_data_is_called_that() -> None:
    assert plain_verdict(compare(arm({"t": 0}, 1), arm({"t": 1}, 1))).startswith("Not enough data to say")


def test_a_single_task_is_not_said_to_be_the_whole() -> None:
    names = {f"t{number:02}": 10 for number in range(20)}
    comparison = compare(arm(names, 20), arm(names | {"t00": 0}, 20))
    assert plain_verdict(comparison) == "No evidence that B is better or worse than A."
    assert "By themselves, by more than chance explains, changed: t00 (regression)" in verdict_sentence(comparison)


def sliced() -> Comparison:
    def made(shift: float) -> list[EvalResult]:
        return [
            run(f"t{number:02}", score=0.4 + 0.01 * number + shift * (number % 2), language=("go", "rust")[number % 2])
            for number in range(12)
        ]

    return compare(made(0.0), made(0.2))


def test_a_forest_plot_has_all_tasks_first_and_every_group() -> None:
    plot = forest(sliced())
    assert plot is not None
    assert [(row.dimension, row.value, row.tasks) for row in plot.rows] == [
        ("", "All tasks", 12),
        ("language", "go", 6),
        ("language", "rust", 6),
    ]
    assert len(plot.rows) == 3


def test_the_axis_of_a_forest_plot_has_0_in_its_middle_and_every_point_on_it() -> None:
    plot = forest(sliced())
    assert plot is not None
    assert plot.at(0) == 50
    assert 0 in plot.ticks
    assert all(0 < plot.at(row.difference) < 100 for row in plot.rows)
    assert plot.cut(2 * plot.reach)
    assert plot.at(2 * plot.reach) == 100


def test_groups_that_one_arm_alone_has_carry_its_name() -> None:
    a = [run(f"t{n}", "old", score=0.1 * n, groups={"image": "x"}) for n in range(6)]
    b = [run(f"t{n}", "new", score=0.1 * n, groups={"image": "yz"[n % 2]}) for n in range(6)]
    plot = forest(compare(a, b, label_a="before", label_b="after"))
    assert plot is not None
    assert "image in after" in {plot.heading(row.dimension) for row in plot.rows}


def test_the_page_shows_the_plot_and_names_the_correction() -> None:
    html = shown(scored(tasks(12, start=0.2), language="go"), scored(tasks(12, start=0.4), language="go"))
    assert "All tasks" in html
    assert "search is better than plain" in html
    a = [*scored({"t1": 0.1, "t2": 0.3}, language="go"), *scored({"t3": 0.2, "t4": 0.5}, language="c")]
    assert "Bonferroni" in shown(a, a)


def many_groups() -> Comparison:
    def made(shift: float) -> list[EvalResult]:
        return [
            run(f"t{n:03}", score=0.3 + 0.001 * n + shift * (1 + n % 3), groups={"repository": f"r{n % 46:02}"})
            for n in range(138)
        ]

    return compare(made(0.0), made(0.1))


def test_of_many_groups_a_dozen_have_a_row_and_the_others_are_counted() -> None:
    plot = forest(many_groups())
    assert plot is not None
    assert sum(row.dimension == "repository" for row in plot.rows) == 12
    assert plot.hidden == {"repository": 34}


def test_the_axis_is_set_by_the_interval_of_all_tasks() -> None:
    a = [run(f"t{n:02}", score=0.4, language="go" if n else "c") for n in range(40)]
    b = [run(f"t{n:02}", score=0.42 + 0.001 * n if n else 0.9, language="go" if n else "c") for n in range(40)]
    plot = forest(compare(a, b))
    assert plot is not None
    assert plot.reach < 0.4
    far = next(row for row in plot.rows if row.value == "c")
    assert plot.cut(far.difference)
    assert far.too_few


def test_the_first_screen_answers_before_anything_else() -> None:
    lost = run("t19", passed=False, outcome=Outcome.INFRA_ERROR, index=1)
    html = shown(scored(tasks(20, start=0.2)), [*scored(tasks(20, start=0.4)), lost])
    order = ["search is better than plain", "+20.0 points", "for each further point", "0 of 20 &rarr; 1 of 21",
             "Before you believe it", "Where the difference comes from", 'id="tasks"']  # fmt: skip
    assert [html.index(text) for text in order] == sorted(html.index(text) for text in order)


def test_each_task_has_reward_tokens_cost_and_time_of_both_arms() -> None:
    a, b = [run("one", score=0.31, cost=0.5, seconds=9, tokens=70)], [run("one", score=0.62, cost=0.25, seconds=8)]
    html = shown(a, b)
    row = html[html.index('<tbody id="task-rows">') : html.index("Means, cost and tools")]
    found = re.findall(r">([^<>\s][^<>]*)</(?:button|td)>", row)
    assert found == ["one", "0.31", "0.62", "+31.0", "70", "100", "$0.5000", "$0.2500", "9.0 s", "8.0 s"]


def verified(task: str, score: float, answer: str, **found: Any) -> EvalResult:
    grade = GradeResult(assertion_id="reward", passed=False, score=score, verifier=VerifierMetrics(**found))
    return run(task, score=score, passed=False, grades=[grade], trace={"result": answer})


def test_a_run_shows_its_answer_and_what_the_verifier_found_in_it() -> None:
    a = [verified("t1", 0.1, "the first answer", identifiers={}, invented_identifiers=["CacheKey"])]
    b = [verified("t1", 0.9, "the second answer", identifiers={"CacheKey": 1.0}, invented_identifiers=["NoSuchName"])]
    first, second = pages(shown(a, b))
    assert all(text in first for text in ("the first answer", "1: CacheKey"))
    assert "<dt>identifiers</dt><dd>none</dd>" in first
    assert "<dt>files</dt><dd>not recorded</dd>" in first
    assert all(text in second for text in ("the second answer", "1: CacheKey", "1: NoSuchName"))


def test_what_was_not_recorded_is_not_a_0() -> None:
    blind = {"has_transcript": False, "usage": None, "duration_seconds": None}
    a, b = ([run("t", score=score, cost=None, trace=blind)] for score in (0.2, 0.4))
    html = shown(a, b)
    assert "Tool calls. plain: not recorded. search: not recorded." in html
    assert "Cost: not recorded" in html
    assert html.count('<td class="n">not recorded</td>') == 6  # tokens, cost and time of both arms


def test_a_lost_run_has_no_score() -> None:
    html = render([Arm("r", [run(passed=False, outcome=Outcome.INFRA_ERROR)])])
    assert listed(html)[0][9] == ""


def test_tasks_are_in_the_metric_of_the_verdict() -> None:
    html = shown(scored({"t1": 0.31, "t2": 0.5}), scored({"t1": 0.62, "t2": 0.5}))
    table = html[html.index('id="tasks"') : html.index('id="runs"')]
    assert ">0.31</button>" in table
    assert ">0.62</button>" in table
    assert "+31.0" in table


def three_arms() -> str:
    arms = [
        ("first", scored(tasks(20, start=0.3))),
        ("second", scored(tasks(20, start=0.5))),
        ("third", scored(tasks(20, start=0.3))),
    ]
    return render([Arm(*one) for one in arms], compare_arms(arms), "3 arms")


def test_several_arms_have_a_verdict_each_and_name_their_correction() -> None:
    html = three_arms()
    assert "second is better than first" in html
    assert "No evidence that third is better or worse than first" in html
    assert "corrected for 2 comparisons (Bonferroni)" in html
    assert html.count('class="forest"') == 2


def test_figures_of_several_comparisons_share_no_id() -> None:
    ids = re.findall(r'\bid="([^"]+)"', three_arms())
    assert len(ids) == len(set(ids))


def test_hostile_names_and_evidence_stay_text() -> None:
    def hostile(score: float) -> list[EvalResult]:
        return [
            run(
                f"{HOSTILE}{number}", HOSTILE, score=score, passed=False, model=HOSTILE,
                language=f"{HOSTILE}{number % 2}", tools=[HOSTILE], trace={"result": HOSTILE},
                grades=[GradeResult(assertion_id=HOSTILE, passed=False, score=score,
                                    verifier=VerifierMetrics(identifiers={HOSTILE: 1.0}))],
            )
            for number in range(6)
        ]  # fmt: skip

    a, b = hostile(0.2), hostile(0.6)
    comparison = compare(a, b, label_a=HOSTILE, label_b=HOSTILE)
    html = render([Arm(HOSTILE, a), Arm(HOSTILE, b)], comparison, HOSTILE)
    assert HOSTILE not in html
    assert "taken" in unescape(html)


def test_secrets_in_an_answer_do_not_reach_the_page() -> None:
    secret = "sk-ant-api03-" + "A1b2" * 10
    assert secret not in shown([verified("t", 0.1, secret)], [verified("t", 0.9, secret, identifiers={secret: 1.0})])


def test_the_made_picture_says_that_it_is_made() -> None:
    assert BANNER in page(8, 2)


def test_on_80_columns_no_name_of_a_group_is_cut(capsys: pytest.CaptureFixture[str]) -> None:
    def of(shift: float) -> list[EvalResult]:
        names = ("architectural_understanding", "cross_file_refactoring")
        return [run(f"t{n}", score=0.02 * n + shift, category=names[n % 2]) for n in range(12)]

    Reporter(Console(width=80)).print_comparison(compare(of(0.0), of(0.3)))
    printed = capsys.readouterr().out
    assert "architectural_understanding " in printed
    assert max(map(len, printed.splitlines())) <= 80


@pytest.mark.slow
@pytest.mark.parametrize("width", [400, 1240])
def test_in_a_browser_nothing_but_tables_and_figures_is_wider_than_the_window(
    browser: Any, tmp_path: Path, width: int
) -> None:
    (tmp_path / "r.html").write_text(page(20, 2), encoding="utf-8")
    opened = Page(browser, tmp_path / "r.html")
    opened.page.set_viewport_size({"width": width, "height": 800})
    assert opened.page.evaluate("document.documentElement.scrollWidth") == width
    assert opened.problems == []

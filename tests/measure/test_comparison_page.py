"""The page of a comparison: what it holds, that it is safe, and how it behaves in a browser."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from harness.models import EvalResult, GradeResult, Outcome
from harness.reporter import Reporter
from measure.compare.comparison import compare, compare_arms
from measure.compare.sentences import answer, verdict_sentence
from measure.compare.verdicts import Comparison
from measure.report.forest import forest
from measure.report.html import render
from tests.support.made_results import made
from tests.support.results import arm, run
from tools.bench.picture import BANNER, page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
HOSTILE = '</script><script>document.title="taken"</script><img src=x onerror="document.title=1">'


def page_of(*arms: tuple[str, list[EvalResult]], title: str = "Runs") -> str:
    return render(arms, compare_arms(arms), title)


def runs_in(html: str) -> list[list[str]]:
    """The cells of every run that the page lists: verdict, arm, task, config, model, run, score, ..."""
    listed = html[html.index('<section id="runs">') :].partition("<tbody>")[2].partition("</tbody>")[0]
    rows = [[cell.partition(">")[2] for cell in row.split("<td")[1:]] for row in listed.split("<tr")[1:]]
    return [[unescape(re.sub("<[^>]*>", "", cell)).strip() for cell in row] for row in rows]


def comparison_page(tasks: int = 12) -> str:
    return page_of(
        ("baseline", made(tasks, 3, config="baseline", chance=0.5, seed=1, text_chars=10)),
        ("search", made(tasks, 3, config="search", chance=0.95, seed=2, text_chars=10)),
    )


def scored(scores: dict[str, float], config: str = "base", **fields: Any) -> list[EvalResult]:
    """A run a task with this score."""
    return [run(task, config, score=score, passed=score >= 0.7, **fields) for task, score in scores.items()]


def tasks(count: int, *, start: float, step: float = 0.0) -> dict[str, float]:
    return {f"task-{number:03}": start + step * number for number in range(count)}


def shown(a: list[EvalResult], b: list[EvalResult]) -> str:
    return page_of(("plain", a), ("search", b))


@pytest.mark.parametrize(
    ("after", "sentence"),
    [
        (10, "B is better than A: +50.0 points"),
        (0, "B is worse than A: -50.0 points"),
        (5, "No evidence that B is better or worse than A."),
    ],
)
def test_the_verdict_is_said_in_plain_words(after: int, sentence: str) -> None:
    names = [f"t{number}" for number in range(10)]
    a, b = arm(dict.fromkeys(names, 5), 10), arm(dict.fromkeys(names, after), 10)
    assert answer(compare(a, b)).startswith(sentence)


def test_too_little_data_is_called_that() -> None:
    assert answer(compare(arm({"t": 0}, 1), arm({"t": 1}, 1))).endswith(": it takes 6 tasks or more.")


def test_a_single_task_is_not_said_to_be_the_whole() -> None:
    names = {f"t{number:02}": 10 for number in range(20)}
    comparison = compare(arm(names, 20), arm(names | {"t00": 0}, 20))
    assert answer(comparison).startswith("No evidence that B is better or worse than A: if there is an effect")
    assert "Single tasks that changed by more than chance: t00 (regression)" in verdict_sentence(comparison)


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
    assert plot.is_beyond(2 * plot.reach)
    assert plot.at(2 * plot.reach) == 100


def test_groups_that_one_arm_alone_has_carry_its_name() -> None:
    a = [run(f"t{n}", "x", score=0.1 * n) for n in range(6)]
    b = [run(f"t{n}", "yz"[n % 2], score=0.1 * n) for n in range(6)]
    plot = forest(compare(a, b, label_a="before", label_b="after"))
    assert plot is not None
    assert "config in after" in {plot.heading(row.dimension) for row in plot.rows}


def test_the_page_shows_the_plot_and_names_the_correction() -> None:
    html = shown(scored(tasks(12, start=0.2), language="go"), scored(tasks(12, start=0.4), language="go"))
    assert "All tasks" in html
    assert "search is better than plain" in html
    a = [*scored({"t1": 0.1, "t2": 0.3}, language="go"), *scored({"t3": 0.2, "t4": 0.5}, language="c")]
    assert "with Holm's correction" in shown(a, a)


def test_the_axis_is_set_by_the_interval_of_all_tasks() -> None:
    a = [run(f"t{n:02}", score=0.4, language="go" if n else "c") for n in range(40)]
    b = [run(f"t{n:02}", score=0.42 + 0.001 * n if n else 0.9, language="go" if n else "c") for n in range(40)]
    plot = forest(compare(a, b))
    assert plot is not None
    assert plot.reach < 0.4
    far = next(row for row in plot.rows if row.value == "c")
    assert plot.is_beyond(far.difference)
    assert far.interval is None


def test_the_first_screen_answers_before_anything_else() -> None:
    lost = run("t19", passed=False, outcome=Outcome.INFRA_ERROR, index=1)
    html = shown(scored(tasks(20, start=0.2)), [*scored(tasks(20, start=0.4)), lost])
    order = ["search is better than plain: +20.0 points", "<dd>+20.0 points</dd>", "0 of 20 &rarr; 1 of 21",
             ">A run needed</th>", ">money</td>", "Before you believe it", "Where the difference comes from",
             '<table class="tasks">']  # fmt: skip
    assert [html.index(text) for text in order] == sorted(html.index(text) for text in order)


def test_each_task_has_reward_tokens_cost_and_time_of_both_arms() -> None:
    a, b = [run("one", score=0.31, cost=0.5, seconds=9, tokens=70)], [run("one", score=0.62, cost=0.25, seconds=8)]
    html = shown(a, b)
    row = html[html.index('<table class="tasks">') :].partition("<tbody>")[2].partition("</tbody>")[0]
    found = re.findall(r">([^<>\s][^<>]*)</(?:button|td)>", row)
    assert found == ["one", "0.31", "0.62", "+31.0", "70", "100", "$0.5000", "$0.2500", "9.0 s", "8.0 s"]


def test_what_was_not_recorded_is_not_a_0() -> None:
    blind = {"has_transcript": False, "usage": None, "duration_seconds": None, "num_turns": None}
    a, b = ([run("t", score=score, cost=None, trace=blind)] for score in (0.2, 0.4))
    html = shown(a, b)
    assert "Tool calls. plain: not recorded. search: not recorded." in html
    assert "Not recorded in one arm or both: tokens, money, time, turns and tool calls." in html
    assert html.count('<td class="n wide">-</td>') == 6  # tokens, cost and time of both arms
    assert [row[7:10] for row in runs_in(html)] == [["-", "-", "-"]] * 2  # cost, time and tools


def test_a_lost_run_has_no_score() -> None:
    lost = [run(passed=False, outcome=Outcome.INFRA_ERROR)]
    assert [row[6] for row in runs_in(shown(lost, [run()]))] == ["", "1.00"]


def test_tasks_are_in_the_metric_of_the_verdict() -> None:
    html = shown(scored({"t1": 0.31, "t2": 0.5}), scored({"t1": 0.62, "t2": 0.5}))
    table = html[html.index('<table class="tasks">') : html.index('id="runs"')]
    assert ">0.31</button>" in table
    assert ">0.62</button>" in table
    assert "+31.0" in table


def three_arms() -> str:
    return page_of(
        ("first", scored(tasks(20, start=0.3))),
        ("second", scored(tasks(20, start=0.5))),
        ("third", scored(tasks(20, start=0.3))),
    )


def test_several_arms_have_an_answer_each_and_name_their_correction() -> None:
    html = three_arms()
    assert "second is better than first" in html
    assert "No evidence that third is better or worse than first" in html
    assert ">third against second</td>" in html
    assert "Holm's method gives each of the 3 pairs its level" in html
    assert html.count('class="forest"') == 2


def test_figures_of_several_comparisons_share_no_id() -> None:
    ids = re.findall(r'\bid="([^"]+)"', three_arms())
    assert len(ids) == len(set(ids))


def test_hostile_names_and_errors_stay_text() -> None:
    def hostile(score: float) -> list[EvalResult]:
        return [
            run(
                f"{HOSTILE}{number}", HOSTILE, score=score, passed=False, model=HOSTILE,
                language=f"{HOSTILE}{number % 2}", tools=[HOSTILE], trace={"error": HOSTILE},
                grades=[GradeResult(assertion_id=HOSTILE, passed=False, score=score)],
            )
            for number in range(6)
        ]  # fmt: skip

    html = page_of((HOSTILE, hostile(0.2)), (f"{HOSTILE} b", hostile(0.6)), title=HOSTILE)
    assert HOSTILE not in html
    assert "taken" in unescape(html)


def test_secrets_in_an_error_do_not_reach_the_page() -> None:
    secret = "sk-ant-api03-" + "A1b2" * 10
    assert secret not in shown([run(passed=False, trace={"error": f"{secret} is refused"})], [run()])


def test_the_page_forbids_itself_every_request() -> None:
    html = comparison_page(3)
    assert "default-src 'none'" in html
    assert not re.findall(r'(?:src|href)="(?!#|data:)[^"]+"', html)


def test_results_that_measured_nothing_still_make_a_page() -> None:
    lost = [run(passed=False, outcome=Outcome.INFRA_ERROR, cost=None)]
    html = shown(lost, lost)
    assert "Not enough data to say" in html
    assert [row[0] for row in runs_in(html)] == ["lost", "lost"]


def test_the_runs_of_all_arms_are_listed_with_why_they_failed() -> None:
    a, b = [run(passed=False, tools=["Read"], trace={"error": "out of turns"})], [run(config="other")]
    (first, second) = runs_in(shown(a, b))
    assert first[:6] == ["fail", "plain", "t1", "base", "m", "0"]
    assert (first[9], first[10].startswith("out of turns")) == ("1", True)
    assert second[:4] == ["pass", "search", "t1", "other"]


@pytest.mark.slow
def test_of_500_tasks_with_three_runs_in_each_arm_the_page_takes_2_mb_at_most() -> None:
    html = comparison_page(500)
    assert len(html.encode()) <= 2_000_000
    assert len(runs_in(html)) == 3000


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


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("needs chromium")
    options = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
               "--disable-background-networking", "--disable-component-update"]  # fmt: skip
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=options)
        yield started
        started.close()


class Page:
    """An open report, with everything it printed and asked for."""

    def __init__(self, browser: Any, path: Path) -> None:
        self.page = browser.new_page()
        self.problems: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.problems.append(message.text))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("#runs output:not(:empty)")

    def runs(self) -> int:
        return int(self.page.locator("#runs tbody tr:visible").count())

    def column(self, number: int) -> list[str]:
        """The texts of a column of the table of tasks, from 1."""
        return list(self.page.locator(f".tasks tbody tr:visible td:nth-child({number})").all_inner_texts())


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Page:
    (tmp_path / "report.html").write_text(comparison_page(), encoding="utf-8")
    return Page(browser, tmp_path / "report.html")


@pytest.mark.slow
def test_runs_are_searched_and_filtered_and_nothing_is_fetched(opened: Page) -> None:
    assert opened.runs() == 72
    opened.page.fill("#runs input", "task-003 search")
    assert opened.runs() == 3
    opened.page.select_option("#runs select", "lost")
    opened.page.fill("#runs input", "")
    assert opened.runs() == opened.page.locator('#runs tbody tr[data-s="lost"]').count() > 0
    opened.page.click("#runs button")
    opened.page.wait_for_selector("#runs output:text('72 of 72 runs')")
    assert opened.problems == []
    assert all(url.startswith(("file://", "data:")) for url in opened.requests)
    assert len([url for url in opened.requests if url.startswith("file://")]) == 1


@pytest.mark.slow
def test_a_reward_lists_its_runs(opened: Page) -> None:
    opened.page.locator(".tasks tbody tr", has_text="task-002").locator("button").nth(1).click()
    opened.page.wait_for_selector("#runs output:text('3 of 72 runs')")
    assert opened.runs() == 3
    assert opened.page.locator("#runs tbody tr:visible").first.locator("td").nth(1).inner_text() == "search"


@pytest.mark.slow
def test_tasks_are_sorted_and_filtered_by_result_and_group(opened: Page) -> None:
    column = opened.column
    opened.page.click(".tasks th button >> text=task")
    assert column(1) == sorted(column(1), reverse=True)
    opened.page.click(".tasks th button >> text=cost baseline")
    costs = [float(text[1:]) for text in column(7)]
    assert costs == sorted(costs, reverse=True)
    opened.page.select_option("select[name=state] >> nth=0", "lost")
    assert all(text.startswith("-") for text in column(4))
    opened.page.select_option("select[name=state] >> nth=0", "gone")
    assert all(int(text) > 0 for text in column(11))
    opened.page.select_option("select[name=state] >> nth=0", "")
    opened.page.select_option("select[name=group]", label="language: rust")
    assert len(column(1)) == 3
    assert opened.page.inner_text("output >> nth=0") == "3 of 12 tasks"


@pytest.mark.slow
def test_hostile_text_runs_nothing_in_a_browser(browser: Any, tmp_path: Path) -> None:
    hostile = [run(HOSTILE, HOSTILE, passed=False, trace={"error": HOSTILE})]
    (tmp_path / "r.html").write_text(page_of((HOSTILE, hostile), ("b", hostile), title="mine"), encoding="utf-8")
    page = Page(browser, tmp_path / "r.html")
    page.page.click(".tasks button >> nth=0")
    assert page.page.title() == "mine"
    assert page.problems == []


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

"""The HTML report: what it holds, that it is safe, and how it behaves in a browser."""

from __future__ import annotations

import base64
import gzip
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.compare.comparison import compare
from harness.models import FileChange, GradeResult, Outcome, ToolCall
from harness.report import html as html_report
from harness.report.html import Arm, render
from tests.support.made_results import made
from tests.support.results import arm, run

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
HOSTILE = '</script><script>document.title="taken"</script><img src=x onerror="document.title=1">'


def unpacked(text: str) -> Any:
    return json.loads(gzip.decompress(base64.b64decode(text)))


def listed(html: str) -> list[list[Any]]:
    """What the table of runs is made of: pack, place, words, verdict, arm, task, ..."""
    found = re.search(r'<script type="text/plain" id="listed">([^<]*)</script>', html)
    assert found
    rows: list[list[Any]] = unpacked(found[1])
    return rows


def pages(html: str) -> list[str]:
    """The page of every run, unpacked, in the order of the table."""
    packs = [unpacked(text) for text in re.findall(r'<script type="text/plain" id="packed-\d+">([^<]*)</script>', html)]
    return [packs[pack][place] for pack, place, *_ in listed(html)]


def two_arms(tasks: int = 12) -> tuple[Any, Any]:
    a = made(tasks, 3, config="baseline", chance=0.5, seed=1)
    return a, made(tasks, 3, config="search", chance=0.95, seed=2)


def comparison_page(tasks: int = 12) -> str:
    a, b = two_arms(tasks)
    return render([Arm("baseline", a), Arm("search", b)], compare(a, b, label_a="baseline", label_b="search"))


def test_summary_heat_map_and_runs_are_there() -> None:
    html = render([Arm("results", arm({"task-a": 2, "task-b": 0}, 3))])
    assert "2/6" in html
    assert ">2/3</button>" in html
    assert [row[3] for row in listed(html)].count("fail") == 4
    assert len(pages(html)) == 6


def test_a_comparison_shows_verdict_interval_and_warnings() -> None:
    html = comparison_page()
    assert "<strong>improvement</strong>" in html
    assert "98 % interval" in html
    assert "Before you believe it" in html


def test_a_run_page_holds_prompt_transcript_diff_grades_and_stderr() -> None:
    trace: dict[str, Any] = {
        "claude_prompt": "the prompt",
        "claude_response": "the answer",
        "stderr": "the stderr",
        "tool_calls": [ToolCall(name="Bash", input={"command": "make test"}, output="the output", error="the error")],
        "file_changes": [FileChange(path="src/a.py", action="modified", diff="@@ -1 +1 @@\n-old\n+new")],
    }
    grade = GradeResult(assertion_id="g1", passed=False, score=0.25, reasoning="the reason", full_output="7 failed")
    (page,) = pages(render([Arm("r", [run(trace=trace, grades=[grade])])]))
    for text in ("the prompt", "the answer", "the stderr", "make test", "the output", "the error", "src/a.py",
                 "the reason", "7 failed"):  # fmt: skip
        assert text in page
    assert '<span class="add">+new' in page


def test_an_agents_text_is_only_ever_text() -> None:
    hostile = run(
        HOSTILE,
        HOSTILE,
        trace={
            "claude_prompt": HOSTILE,
            "result": HOSTILE,
            "error": HOSTILE,
            "tool_calls": [ToolCall(name=HOSTILE, input={"x": HOSTILE}, output=HOSTILE)],
            "file_changes": [FileChange(path=HOSTILE, action="created", content_after=HOSTILE)],
        },
        grades=[GradeResult(assertion_id=HOSTILE, passed=False, score=0, details=HOSTILE)],
    )
    html = render([Arm(HOSTILE, [hostile]), Arm("b", [hostile])], compare([hostile], [hostile], label_a=HOSTILE))
    assert HOSTILE not in html
    assert all(HOSTILE not in page for page in pages(html))


def test_secrets_of_a_transcript_do_not_reach_the_page() -> None:
    secret = "sk-ant-api03-" + "A1b2" * 10
    calls = [ToolCall(name="Bash", input={"command": f"curl -H 'x: {secret}'"}, output=secret)]
    html = render([Arm("r", [run(trace={"tool_calls": calls, "error": secret, "stderr": secret})])])
    assert secret not in html
    assert all(secret not in page for page in pages(html))


def test_the_page_forbids_itself_every_request() -> None:
    html = comparison_page(3)
    assert "default-src 'none'" in html
    assert not re.findall(r'(?:src|href)="(?!#|data:)[^"]+"', html)


def test_results_that_measured_nothing_still_make_a_page() -> None:
    lost = [run(passed=False, outcome=Outcome.INFRA_ERROR, cost=None)]
    html = render([Arm("A", lost), Arm("B", lost)], compare(lost, lost))
    assert "no measured run" in html
    assert "not enough data" in html


@pytest.fixture(scope="module")
def long_report() -> str:
    """The page of 50 runs with long transcripts, which may take 2 MB; `make bench` has 500 runs and the real bound."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(html_report, "MAX_BYTES", 1_800_000)
        return render([Arm("r", made(10, 5, config="c", chance=0.7, seed=3, text_chars=50_000))])


@pytest.mark.slow
def test_texts_are_cut_until_the_page_fits(long_report: str) -> None:
    assert 200_000 < len(long_report.encode()) < 2_000_000
    assert "characters is left out" in pages(long_report)[0]


def test_the_arms_of_the_list_are_told_apart() -> None:
    a, b = [run(tools=["mcp__search"])], [run(config="other")]
    rows = listed(render([Arm("A", a), Arm("B", b)], compare(a, b)))
    assert [row[4:7] for row in rows] == [["A", "t1", "base"], ["B", "t1", "other"]]
    assert "mcp__search" in rows[0][2]


@pytest.mark.slow
def test_of_500_tasks_with_three_runs_in_each_arm_the_page_takes_2_mb_at_most() -> None:
    html = comparison_page(500)
    assert len(html.encode()) <= 2_000_000
    assert len(listed(html)) == 3000


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
        self.page.wait_for_selector("#count:not(:empty)")

    def shown(self) -> int:
        return int(self.page.locator("#rows tr:visible").count())


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(comparison_page(), encoding="utf-8")
    return path


@pytest.fixture
def opened(browser: Any, report: Path) -> Page:
    return Page(browser, report)


@pytest.mark.slow
def test_in_a_browser_nothing_fails_and_nothing_is_fetched(opened: Page) -> None:
    opened.page.click("#rows a >> nth=0")
    opened.page.wait_for_selector("#run h1")
    assert opened.problems == []
    assert all(url.startswith(("file://", "data:")) for url in opened.requests)
    assert len([url for url in opened.requests if url.startswith("file://")]) == 1


@pytest.mark.slow
def test_searching_and_filtering_narrow_the_list(opened: Page) -> None:
    assert opened.shown() == 72
    opened.page.fill("#words", "task-003 search")
    assert opened.shown() == 3
    opened.page.select_option("#state", "lost")
    opened.page.fill("#words", "")
    lost = opened.page.locator('#rows tr[data-state="lost"]').count()
    assert opened.shown() == lost
    opened.page.click("#filter button")
    opened.page.wait_for_selector("#count:text('72 of 72 runs')")


@pytest.mark.slow
def test_the_search_can_look_inside_transcripts(opened: Page) -> None:
    opened.page.fill("#words", "+new &amp; line")
    assert opened.shown() == 0
    opened.page.check("#deep")
    opened.page.wait_for_selector("#count:text('72 of 72 runs')")


@pytest.mark.slow
def test_a_reward_lists_its_runs(opened: Page) -> None:
    opened.page.locator("#task-rows tr", has_text="task-002").locator("button").nth(1).click()
    opened.page.wait_for_selector("#count:text('3 of 72 runs')")
    assert opened.shown() == 3


@pytest.mark.slow
def test_tasks_are_sorted_and_filtered_by_result_and_group(opened: Page) -> None:
    def column(number: int) -> list[str]:
        return list(opened.page.locator(f"#task-rows tr:visible td:nth-child({number})").all_inner_texts())

    opened.page.click("#tasks th button >> text=task")
    assert column(1) == sorted(column(1), reverse=True)
    opened.page.click("#tasks th button >> text=cost baseline")
    costs = [float(text[1:]) for text in column(7)]
    assert costs == sorted(costs, reverse=True)
    opened.page.select_option("#task-state", "lost")
    assert all(text.startswith("-") for text in column(4))
    opened.page.select_option("#task-state", "gone")
    assert all(int(text) > 0 for text in column(11))
    opened.page.select_option("#task-state", "")
    opened.page.select_option("#task-group", label="language: rust")
    assert len(column(1)) == 3
    assert opened.page.inner_text("#task-count") == "3 of 12 tasks"


@pytest.mark.slow
def test_the_focus_goes_back_to_the_link_that_led_to_a_run(opened: Page) -> None:
    opened.page.click("#rows a >> nth=4")
    opened.page.wait_for_selector("#run h1")
    opened.page.go_back()
    opened.page.wait_for_selector("#overview:not([hidden])")
    assert opened.page.evaluate("document.activeElement.hash") == "#run-2"


@pytest.mark.slow
def test_run_pages_open_link_to_each_other_and_back(opened: Page) -> None:
    opened.page.click("#rows a >> nth=0")
    opened.page.wait_for_selector("#run h1")
    assert "task-000" in opened.page.inner_text("#run h1")
    assert not opened.page.is_visible("a[rel=prev]")
    opened.page.click("a[rel=next]")
    opened.page.wait_for_url("**/*#run-1")
    opened.page.click("text=all runs")
    opened.page.wait_for_selector("#overview:not([hidden])")


@pytest.mark.slow
def test_hostile_text_runs_nothing_in_a_browser(browser: Any, tmp_path: Path) -> None:
    hostile = run(HOSTILE, trace={"result": HOSTILE, "claude_prompt": HOSTILE})
    (tmp_path / "r.html").write_text(render([Arm("r", [hostile])], title="mine"), encoding="utf-8")
    page = Page(browser, tmp_path / "r.html")
    page.page.click("#rows a >> nth=0")
    page.page.wait_for_selector("#run h1")
    assert page.page.title() == "mine"
    assert page.problems == []


@pytest.mark.slow
def test_long_runs_open_in_a_browser(browser: Any, tmp_path: Path, long_report: str) -> None:
    (tmp_path / "r.html").write_text(long_report, encoding="utf-8")
    assert Page(browser, tmp_path / "r.html").shown() == 50

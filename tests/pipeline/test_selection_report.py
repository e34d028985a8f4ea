"""select_tasks.py --report: what the page shows, what no data can do to it, and that it needs nothing else."""

from __future__ import annotations

import os
import random
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest

from locobench.dataset.catalog import DIFFICULTIES, LANGUAGES
from locobench.selection.criteria import CATEGORY_BONUSES, Candidate, Criteria
from locobench.selection.page import selection_page
from locobench.selection.select import select
from tests.conftest import Script
from tests.support.chromium import chromium
from tests.support.data_builder import Data

HOSTILE = """</small></table><script>alert(1)</script><img src=http://evil.test/x onerror='a()'>" {{ 7 * 7 }} &lt;"""


class Reader(HTMLParser):
    """Reads a page: its elements with their attributes, and the tables as rows of texts."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.tables: list[list[list[str]]] = []
        self.in_table = False
        self.feed(page.decode())

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))
        if tag == "table":
            self.tables.append([])
            self.in_table = True
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
        elif tag == "small":
            self.tables[-1][-1][-1] += "|"

    def handle_endtag(self, tag: str) -> None:
        self.in_table = self.in_table and tag != "table"

    def handle_data(self, text: str) -> None:
        if self.in_table and self.tables[-1] and self.tables[-1][-1]:
            self.tables[-1][-1][-1] += text.strip()

    @property
    def ranked(self) -> list[list[str]]:
        return self.tables[-1][1:]


def candidate(name: str, **changes: object) -> Candidate:
    fields = {
        "task_category": "bug_investigation",
        "difficulty": "hard",
        "language": "python",
        "context_length": 100_000,
        "files_count": 50,
        "title": f"Title of {name}",
        **changes,
    }
    return Candidate(name, **fields)  # type: ignore[arg-type]


def page(tasks: list[Candidate], criteria: Criteria | None = None, dataset: str = "d.jsonl") -> bytes:
    return selection_page(tasks, select(tasks, criteria or Criteria()), dataset)


def many(number: int) -> list[Candidate]:
    """Return tasks of the size and spread of the full dataset, always the same."""
    dice = random.Random(1)
    return [
        candidate(
            f"javascript_mobile_social_expert_{n:03}_architectural_understanding_expert_01",
            task_category=dice.choice([*CATEGORY_BONUSES]),
            difficulty=dice.choice(DIFFICULTIES),
            language=dice.choice(LANGUAGES),
            context_length=(characters := dice.randint(10_000, 1_167_000)),
            files_count=characters // dice.randint(12_000, 20_000) + 1,
            title="Architectural Analysis for a Serverless Game Replay System",
        )
        for n in range(number)
    ]


def test_ranked_table_holds_the_selected_tasks_best_first() -> None:
    tasks = [candidate("small", context_length=60_000), candidate("large"), candidate("out", files_count=1)]
    assert Reader(page(tasks)).ranked == [
        ["1", "0.9200", "Title of large|large", "bug_investigation", "hard", "python", "100,000", "50"],
        ["2", "0.8000", "Title of small|small", "bug_investigation", "hard", "python", "60,000", "50"],
    ]
    assert [row[2] for row in Reader(page(tasks, Criteria(top_n=1))).ranked] == ["Title of large|large"]


def test_counts_are_selected_passing_and_all_by_category_and_language() -> None:
    tasks = [
        candidate("a"),
        candidate("b", context_length=90_000),
        candidate("c", context_length=50_000),
        candidate("d", task_category="code_comprehension", language="go"),
    ]
    assert Reader(page(tasks, Criteria(top_n=1))).tables[-2] == [
        ["category", "go", "python", "total"],
        ["bug_investigation", "\u2013", "1|2\u2009/\u20093", "1|2\u2009/\u20093"],
        ["code_comprehension", "0|1\u2009/\u20091", "\u2013", "0|1\u2009/\u20091"],
        ["total", "0|1\u2009/\u20091", "1|2\u2009/\u20093", "1|3\u2009/\u20094"],
    ]


def test_criteria_are_said_with_the_filters_that_leave_something_out() -> None:
    criteria = Criteria(min_context_length=1_234, min_files_count=3, categories=("bug_investigation",))
    text = page([candidate("a")], criteria).decode()
    assert "over 1,234 characters (not tokens) and over 3 context files" in text
    assert "<dd>only bug_investigation</dd>" in text
    assert "<dt>languages</dt>" not in text


def test_scatter_draws_a_dot_for_each_task_that_is_not_selected_and_a_diamond_for_each_that_is() -> None:
    tasks = [candidate(str(n), context_length=5_000 * n, files_count=n) for n in range(1, 201)]
    scatter = page(tasks, Criteria(top_n=3)).decode().partition('id="scatter-figure_1"')[2].partition("</svg>")[0]
    drawn = {
        group: sum(path.count("L") for path in re.findall(rf'<path d="([^"]*)"[^>]*stroke: var\(--{group}\)', scatter))
        for group in ("failing", "passing")
    }
    assert drawn == {"failing": 10, "passing": 187}
    assert len(re.findall(r'<use[^>]*class="mark"/>', scatter)) == 3


def test_tasks_that_lie_on_each_other_are_drawn_once() -> None:
    assert len(page([candidate(str(n)) for n in range(5_000)], Criteria(top_n=1))) < 1.1 * len(
        page([candidate(str(n)) for n in range(2)], Criteria(top_n=1))
    )


def test_figures_take_their_colours_from_the_style_sheet() -> None:
    figures = re.findall(r"<svg.*?</svg>", page([candidate("a"), candidate("b", files_count=1)]).decode(), re.DOTALL)
    assert len(figures) == 1
    for figure in figures:
        colours = set(re.findall(r"(?:fill|stroke): ([^;\"]+)", figure)) - {"none"}
        assert colours <= {"currentColor", *(f"var(--{name})" for name in ("failing", "passing", "selected", "paper"))}
        assert "#0" not in figure


def test_ids_in_the_page_are_unique() -> None:
    ids = [attributes["id"] for _, attributes in Reader(page([candidate("a")])).elements if "id" in attributes]
    assert len(ids) == len(set(ids)) > 10


def test_text_of_the_data_stays_text() -> None:
    clean = Reader(page([candidate("a")]))
    read = Reader(page([candidate(f"{HOSTILE}id", title=f"{HOSTILE}title")], dataset=f"{HOSTILE}dataset"))
    assert [tag for tag, _ in read.elements if tag != "wbr"] == [tag for tag, _ in clean.elements if tag != "wbr"]
    assert read.ranked[0][2] == f"{HOSTILE}title|{HOSTILE}id"


def test_controls_and_changes_of_direction_become_visible() -> None:
    title = "one\ntwo\x00\u202ethree\ud800" + "x" * 500
    shown = Reader(page([candidate("a", title=title)])).ranked[0][2].partition("|")[0]
    assert shown.startswith("one two\ufffd\ufffdthree\ufffdxxx")
    assert shown.endswith("…")
    assert len(shown) == 160


def test_an_id_is_never_cut() -> None:
    assert Reader(page([candidate("a" * 200)])).ranked[0][2].endswith("|" + "a" * 200)


def test_page_refers_to_nothing_outside_itself() -> None:
    content = page(many(50))
    assert not re.search(rb"https?:|//|@import|<link|<base", content)
    assert set(re.findall(rb"url\((.)", content)) <= {b"#"}
    attributes = [name for tag, given in Reader(content).elements for name in given if tag != "use"]
    assert not {"src", "href", "xlink:href", "srcset", "action", "data"} & set(attributes)
    assert b"default-src 'none'" in content


@pytest.mark.slow
def test_same_input_gives_the_same_bytes_whatever_matplotlib_is_set_to(
    data: Data, tmp_path: Path, script: Script
) -> None:
    data.scenario()
    script("extract_dataset.py", "--data_dir", data.folder, "--output", tmp_path / "d.jsonl")
    (tmp_path / "matplotlibrc").write_text("font.size: 30\nsvg.fonttype: path\naxes.facecolor: red\n")
    pages = []
    for seed, rcfile in (("1", ""), ("2", str(tmp_path / "matplotlibrc"))):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "MATPLOTLIBRC": rcfile}
        done = script(
            "select_tasks.py", "--dataset_path", tmp_path / "d.jsonl", "--output", tmp_path / "s.json",
            "--report", tmp_path / "s.html", env=environment,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        pages.append((tmp_path / "s.html").read_bytes())
    assert pages[0] == pages[1]


@pytest.mark.slow
@pytest.mark.parametrize("top_n", [50, 8_000])
def test_page_of_the_full_dataset_stays_below_3_mb(top_n: int) -> None:
    assert len(page(many(8_000), Criteria(top_n=top_n))) < 3_000_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tasks", "criteria"),
    [
        ([], Criteria()),
        ([candidate("a", context_length=0, files_count=0)], Criteria()),
        ([candidate("a")], Criteria(top_n=0)),
        ([candidate("a")], Criteria(min_context_length=10**30, min_files_count=0)),
        ([candidate("a", context_length=10**30, files_count=10**9)], Criteria(min_context_length=0)),
    ],
    ids=["no task", "all zero", "none selected", "threshold out of reach", "huge numbers"],
)
def test_page_is_made_of_any_dataset(tasks: list[Candidate], criteria: Criteria) -> None:
    content = page(tasks, criteria)
    assert len(Reader(content).ranked) == len(select(tasks, criteria).selected)
    assert not re.search(rb"\b(nan|inf)\b", content)


@pytest.mark.parametrize("report", ["s.json", "folder"])
def test_report_that_cannot_be_written_leaves_no_selection_either(
    data: Data, tmp_path: Path, script: Script, report: str
) -> None:
    data.scenario()
    script("extract_dataset.py", "--data_dir", data.folder, "--output", tmp_path / "d.jsonl")
    (tmp_path / "folder").mkdir()
    before = sorted(tmp_path.iterdir())
    done = script(
        "select_tasks.py", "--dataset_path", tmp_path / "d.jsonl", "--output", tmp_path / "s.json",
        "--report", tmp_path / report,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert report in done.stderr
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.e2e
def test_browser_shows_searches_and_sorts_without_an_error_or_a_request(tmp_path: Path) -> None:
    program = shutil.which("chromium") or pytest.skip("chromium is not installed")
    file = tmp_path / "selection.html"
    hostile = candidate(
        "x", task_category="architectural_understanding", title=HOSTILE, context_length=1_200_000, files_count=90
    )
    file.write_bytes(page([*many(8_000), hostile]))
    visible = "[...document.querySelectorAll('#ranked tbody tr')].filter((row) => row.getClientRects().length)"
    ranks = f"{visible}.map((row) => Number(row.cells[0].textContent))"
    ground = "getComputedStyle(document.body).backgroundColor"
    bar = "getComputedStyle(document.querySelector('svg [style*=\"--passing\"]')).stroke"
    with chromium(program, tmp_path / "profile") as browser:
        browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        browser.open(file)
        dark = browser.evaluate(ground), browser.evaluate(bar)
        browser.call("Emulation.setEmulatedMedia", media="print")
        in_print = browser.evaluate(ground), browser.evaluate(bar)
        browser.call("Emulation.setEmulatedMedia", media="")
        assert dark == ("rgb(20, 24, 28)", "rgb(91, 155, 216)")
        assert in_print == ("rgb(255, 255, 255)", "rgb(59, 120, 184)")

        assert browser.evaluate(ranks) == list(range(1, 51))
        browser.evaluate("document.querySelector('#ranked th:last-child button').click()")
        files = browser.evaluate(f"{visible}.map((row) => Number(row.cells[7].textContent))")
        assert files == sorted(files)
        assert len(set(files)) > 1
        browser.evaluate("search.value = 'evil.TEST'; search.oninput()")
        assert browser.evaluate(f"{visible}.length") == 1
        assert browser.evaluate("document.querySelector('output').textContent") == "1 of 50 shown"
        assert not browser.evaluate("document.querySelectorAll('img').length")

        browser.call("Emulation.setScriptExecutionDisabled", value=True)
        browser.open(file)
        browser.call("Emulation.setScriptExecutionDisabled", value=False)
        assert browser.evaluate(f"{visible}.length") == 50
        assert browser.evaluate("search.getClientRects().length") == 0
        assert browser.requests == [file.as_uri()] * 2
        assert browser.complaints == []


@pytest.mark.e2e
def test_browser_helper_sees_requests_and_errors(tmp_path: Path) -> None:
    program = shutil.which("chromium") or pytest.skip("chromium is not installed")
    file = tmp_path / "page.html"
    file.write_text("<img src='missing.png'><script>console.log('heard'); undefinedName()</script>")
    with chromium(program, tmp_path / "profile") as browser:
        browser.open(file)
        assert browser.requests == [file.as_uri(), (tmp_path / "missing.png").as_uri()]
        assert any("heard" in text for text in browser.complaints)
        assert any("undefinedName" in text for text in browser.complaints)

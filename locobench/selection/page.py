"""Render a selection as one HTML file: criteria, the tasks as a figure, counts and the ranked tasks.

matplotlib takes half a second to import, so import this module only when a page is asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import jinja2
from markupsafe import Markup, escape

from locobench.dataset.catalog import DIFFICULTIES
from locobench.selection.criteria import SCORE_PARTS, Candidate
from locobench.selection.figures import Groups, scatter
from locobench.selection.select import Selection

TEMPLATE = "page.html.j2"
# A column for each measurement that some task has: field, heading, format, what it is.
MEASUREMENTS = (
    ("open_reward", "open", "%.2f", "mean reward of agents that had the code"),
    ("closed_reward", "closed", "%.2f", "mean reward of agents that had not"),
    ("truth", "truth", "%.0f", "how true of its code an audit found the ground truth, 0 to 100"),
)


def selection_page(tasks: Sequence[Candidate], selection: Selection, dataset: str) -> bytes:
    """Return the HTML page (UTF-8) of a selection; the same input gives the same bytes.

    Args:
        tasks: all tasks that the selection was made from.
        dataset: the dataset's name to show.
    """
    criteria = selection.criteria
    groups = Groups(
        failing=[task for task in tasks if not criteria.pass_task(task)],
        passing=[task for _, task in selection.passed[criteria.top_n :]],
        selected=[task for _, task in selection.selected],
    )
    counts = Groups(*(Counter(key for task in group for key in _keys(task)) for group in groups))
    # Highest bonus first, as in the published table.
    bonuses = criteria.category_bonuses
    categories = sorted({task.task_category for task in tasks}, key=lambda name: (-bonuses.get(name, 0), name))
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(plain=_plain, breakable=_breakable)
    page = environment.get_template(TEMPLATE).render(
        dataset=dataset,
        criteria=criteria,
        statistics=selection.as_json()["statistics"],
        parts=[(criteria.weights[name], part) for name, part in SCORE_PARTS.items()],
        largest=selection.largest,
        ranked=selection.selected,
        measurements=[row for row in MEASUREMENTS if any(getattr(task, row[0]) is not None for task in tasks)],
        scatter=scatter(groups, criteria),
        counts=counts,
        categories=[*categories, ""],
        languages=[*sorted({task.language for task in tasks}), ""],
        difficulties=[name for name in DIFFICULTIES if any(count["", "", name] for count in counts)],
        most_selected=max((number for key, number in counts.selected.items() if key[0] and key[1]), default=0),
    )
    return page.encode()


def _plain(text: str) -> str:
    """Return the text on one line, with unprintable characters (controls, direction overrides) replaced."""
    line = " ".join(text.split())
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in line)


def _breakable(name: str) -> Markup:
    """Return an id as HTML that may wrap after each `_`; copied text is unchanged."""
    return escape(_plain(name)).replace("_", Markup("_<wbr>"))


def _keys(task: Candidate) -> Iterator[tuple[str, str, str]]:
    """Yield each (category, language, difficulty) that counts the task; "" stands for any."""
    yield from product((task.task_category, ""), (task.language, ""), ("",))
    yield "", "", task.difficulty

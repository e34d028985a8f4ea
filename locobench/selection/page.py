"""Render a selection as one HTML file: distributions, thresholds, counts and the ranked tasks.

matplotlib takes half a second to import, so import this module only when a page is asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import jinja2
import numpy as np
from markupsafe import Markup, escape

from locobench.dataset.catalog import DIFFICULTIES
from locobench.selection.criteria import SCORE_PARTS, Candidate, Criteria
from locobench.selection.figures import Groups, Measure, draw_figures, values_of
from locobench.selection.select import Selection

TEMPLATE = "page.html.j2"


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
    measures = (
        Measure("context", "context length, thousand characters", _context, criteria.min_context_length, 1000),
        Measure("files", "context files", _files, criteria.min_files_count, 1),
    )
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
        filters=_filters(criteria),
        ranked=selection.selected,
        measures=_measures(tasks, criteria),
        figures=draw_figures(groups, measures),
        summaries=[(measure.label, _summary(groups, measure)) for measure in measures],
        counts=_counts(groups, criteria),
        difficulties=_difficulties(groups),
    )
    return page.encode()


def _context(task: Candidate) -> int:
    return task.context_length


def _files(task: Candidate) -> int:
    return task.files_count


def _plain(text: str) -> str:
    """Return the text on one line, with unprintable characters (controls, direction overrides) replaced."""
    line = " ".join(text.split())
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in line)


def _breakable(name: str) -> Markup:
    """Return an id as HTML that may wrap after each `_`; copied text is unchanged."""
    return escape(_plain(name)).replace("_", Markup("_<wbr>"))


def _filters(criteria: Criteria) -> list[tuple[str, str]]:
    """Return (field, values kept) for each filter that is set."""
    kept = {name: getattr(criteria, name) for name in ("categories", "languages", "difficulties")}
    return [(name, ", ".join(values)) for name, values in kept.items() if values is not None]


def _summary(groups: Groups, measure: Measure) -> list[tuple[str, int, list[float]]]:
    """Return (group, tasks, [min, quartiles, max]) for all, passing and selected tasks."""
    failing, passing, selected = (values_of(group, measure) for group in groups)
    passing = np.concatenate([passing, selected])
    sets = {"all": np.concatenate([failing, passing]), "passing": passing, "selected": selected}
    return [
        (name, len(values), np.quantile(values, [0, 0.25, 0.5, 0.75, 1]).tolist())
        for name, values in sets.items()
        if len(values)
    ]


class Shown(NamedTuple):
    """How the page shows a measurement."""

    field: str
    heading: str
    format: str
    note: str


def _measures(tasks: Sequence[Candidate], criteria: Criteria) -> list[Shown]:
    """Return the measurements that at least one task has: rewards with and without the code, audited truth."""
    closed = sum(map(criteria.needs_no_code, tasks))
    untrue = sum(map(criteria.is_untrue, tasks))
    limits = {
        "closed_reward": f"; more than {criteria.max_closed} without the code does not pass ({closed:,} tasks)",
        "truth": f"; less than {criteria.min_truth} does not pass ({untrue:,} tasks)",
    }
    given = {"closed_reward": criteria.max_closed, "truth": criteria.min_truth}
    found = []
    for field, heading, form, note in (
        ("open_reward", "open", "%.2f", "mean reward of agents that had the code"),
        ("closed_reward", "closed", "%.2f", "mean reward of agents that had not"),
        ("truth", "truth", "%.0f", "how true of its code an audit found the ground truth, 0 to 100"),
    ):
        if measured := sum(getattr(task, field) is not None for task in tasks):
            limit = limits[field] if given.get(field) is not None else ""
            found.append(Shown(field, heading, form, f"{note}, of {measured:,} tasks{limit}"))
    return found


class Cell(NamedTuple):
    """Numbers of tasks; each includes the next."""

    all: int
    passing: int
    selected: int


def _counter(groups: Groups, key: Callable[[Candidate], object]) -> Callable[[object], Cell]:
    """Return a function that counts the tasks with a given value of `key`."""
    failing, passing, selected = (Counter(map(key, group)) for group in groups)
    return lambda value: Cell(
        failing[value] + passing[value] + selected[value], passing[value] + selected[value], selected[value]
    )


class Counts(NamedTuple):
    """The table of categories by languages, without empty ones; totals come last."""

    languages: list[str]
    rows: list[tuple[str, list[Cell]]]
    most_selected: int
    """The largest number of selected tasks in a cell, excluding totals."""


def _counts(groups: Groups, criteria: Criteria) -> Counts:
    both = _counter(groups, lambda task: (task.task_category, task.language))
    by_category = _counter(groups, lambda task: task.task_category)
    by_language = _counter(groups, lambda task: task.language)
    everything = [task for group in groups for task in group]
    languages = sorted({task.language for task in everything})
    # Highest bonus first, as in the published table.
    bonuses = criteria.category_bonuses
    categories = sorted({task.task_category for task in everything}, key=lambda name: (-bonuses.get(name, 0), name))
    rows = [
        (category, [*(both((category, language)) for language in languages), by_category(category)])
        for category in categories
    ]
    most = max((cell.selected for _, cells in rows for cell in cells[:-1]), default=0)
    total = _counter(groups, lambda task: None)(None)
    return Counts(languages, [*rows, ("total", [*map(by_language, languages), total])], most)


def _difficulties(groups: Groups) -> list[tuple[str, Cell]]:
    cell = _counter(groups, lambda task: task.difficulty)
    return [(difficulty, cell(difficulty)) for difficulty in DIFFICULTIES if cell(difficulty).all]

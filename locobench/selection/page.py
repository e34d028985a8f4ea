"""Render a selection as one HTML file: distributions, thresholds, counts and the ranked tasks.

matplotlib takes half a second to import, so import this module only when a page is asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product
from operator import attrgetter
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
        Measure(
            "context",
            "context length, thousand characters",
            attrgetter("context_length"),
            criteria.min_context_length,
            1000,
        ),
        Measure("files", "context files", attrgetter("files_count"), criteria.min_files_count, 1),
    )
    cells = _cells(groups)
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
        filters=_filters(criteria),
        ranked=selection.selected,
        measures=_measures(tasks, criteria),
        figures=draw_figures(groups, measures),
        summaries=[(measure.label, _summary(groups, measure)) for measure in measures],
        cells=cells,
        categories=[*categories, ""],
        languages=[*sorted({task.language for task in tasks}), ""],
        difficulties=[name for name in DIFFICULTIES if ("", "", name) in cells],
        most_selected=max((cell.selected for key, cell in cells.items() if key[0] and key[1]), default=0),
    )
    return page.encode()


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
    limits = dict.fromkeys(("open_reward", "closed_reward", "truth"), "")
    if criteria.max_closed is not None:
        failing = sum(map(criteria.needs_no_code, tasks))
        limits["closed_reward"] = (
            f"; more than {criteria.max_closed} without the code does not pass ({failing:,} tasks)"
        )
    if criteria.min_truth is not None:
        failing = sum(map(criteria.is_untrue, tasks))
        limits["truth"] = f"; less than {criteria.min_truth} does not pass ({failing:,} tasks)"
    return [
        Shown(field, heading, form, f"{note}, of {measured:,} tasks{limits[field]}")
        for field, heading, form, note in (
            ("open_reward", "open", "%.2f", "mean reward of agents that had the code"),
            ("closed_reward", "closed", "%.2f", "mean reward of agents that had not"),
            ("truth", "truth", "%.0f", "how true of its code an audit found the ground truth, 0 to 100"),
        )
        if (measured := sum(getattr(task, field) is not None for task in tasks))
    ]


class Cell(NamedTuple):
    """Numbers of tasks; each includes the next."""

    all: int
    passing: int
    selected: int


def _cells(groups: Groups) -> dict[tuple[str, str, str], Cell]:
    """Count the tasks by (category, language, difficulty); "" stands for any."""
    failing, passing, selected = (
        Counter(
            key
            for task in group
            for key in (
                *product((task.task_category, ""), (task.language, ""), ("",)),
                ("", "", task.difficulty),
            )
        )
        for group in groups
    )
    return {
        key: Cell(failing[key] + passing[key] + selected[key], passing[key] + selected[key], selected[key])
        for key in failing | passing | selected
    }

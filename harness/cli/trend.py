"""The command that shows how the rewards of several jobs move over time."""

from __future__ import annotations

import json
from pathlib import Path

import click

from harness.cli.options import PATH
from harness.cli.output import keep_sources, write_text
from harness.compare.trend import Trend, find_trend
from harness.errors import InputError
from harness.models import SCHEMA_VERSION
from harness.reporter import Reporter
from harness.results.sources import load_source


@click.command()
@click.argument("jobs", type=PATH, nargs=-1, required=True)
@click.option("--json", "json_path", type=PATH, help="Also write the trend as data.")
@click.option("--html", type=PATH, help="Also write a page with a picture.")
def trend(jobs: tuple[Path, ...], json_path: Path | None, html: Path | None) -> None:
    """Mean reward of each of JOBS in the order of time, its slope over the last ten, and the tasks that moved."""
    if len(jobs) < 2:
        raise InputError(f"{jobs[0]}: one job shows no trend; name two or more")
    keep_sources(jobs, json_path, html)
    names = [path.stem for path in jobs]
    found = find_trend([(path.stem if names.count(path.stem) == 1 else str(path), load_source(path)) for path in jobs])
    Reporter().print_trend(found)
    write_text(json_path, lambda: _data(found))
    write_text(html, lambda: _page(found))


def _data(found: Trend) -> str:
    data = {"schema_version": SCHEMA_VERSION, **found.model_dump(mode="json")}
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def _page(found: Trend) -> str:
    from harness.report import trend_page  # its figure's matplotlib takes half a second to import

    return trend_page.render(found)

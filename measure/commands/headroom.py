"""The command after a pilot: headroom says what the tasks can show, and whether to go on."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from locobench.shared.claim import claim_beforehand
from locobench.shared.errors import InputError
from locobench.shared.installation import SELECT
from measure.commands.options import PATH, load, reward_options
from measure.report.console import plain, print_table, report_console, say
from measure.report.tables import new_table
from measure.summary.headroom import Level, PilotHeadroom, pilot_headroom
from measure.summary.wording import UNKNOWN, cost_text, count_text, counted, metric_name


@click.command()
@click.argument("job", type=PATH)
@click.option("--tasks", type=click.IntRange(1), help="Tasks of the full set.  [default: as many as the pilot has]")
@click.option("--attempts", default=3, show_default=True, type=click.IntRange(1), help="Runs of each task in each arm.")
@reward_options
def headroom(
    *, job: Path, tasks: int | None, attempts: int, reward_key: str, reward_range: tuple[float, float]
) -> None:
    """Can these tasks show a difference at all? Reads a pilot: some tasks, one arm of your own agent, one run each.

    Shows how near the agent is to the ceiling and the floor, which rise and fall are possible, and which of them the
    full set would detect. Says whether to go on, to take other tasks, or to ask about cost only. A pilot's runs must
    not count in the comparison: `compare` leaves them out if --pilot selected the tasks by them.
    """
    runs = load(job, reward_key, reward_range)
    try:
        found = pilot_headroom(runs)
    except InputError as error:
        raise InputError(f"{job}: {error}") from error
    whole, console = found.whole, report_console()
    columns = ("tasks", metric_name(found.metric), "at 1.0", "at 0", "spread", "tokens", "calls", "money")
    table = new_table("", "", *columns)
    for name, levels in found.groups.items():
        table.add_row(plain(name, style="bold"))
        for value, level in levels.items():
            table.add_row(plain(f"  {value}"), *_cells(level))
    table.add_row("all", *_cells(whole))
    print_table(console, table)
    count = tasks or whole.tasks
    console.print(
        f"The largest possible rise on such tasks is {100 * (1 - whole.mean):.1f} points, the largest fall "
        f"{100 * whole.mean:.1f}."
    )
    basis = " (with one run per task, all differences between tasks count as noise)" if found.noise_is_bound else ""
    console.print(f"{found.noise.found_text(count, attempts)}{basis}.")
    if whole.cost:
        price = 2 * count * attempts * whole.cost
        console.print(f"{counted(count, 'task')} x {attempts} x 2 arms cost about ${price:.2f} at the pilot's price.")
    if repositories := found.groups.get("repository"):
        console.print(plain(claim_beforehand(len(repositories))))
    say(_advice(found, count, attempts, job))


def _cells(level: Level) -> tuple[str, ...]:
    return (
        str(level.tasks),
        f"{level.mean:.2f}",
        f"{100 * level.ceiling / level.tasks:.0f} %",
        f"{100 * level.floor / level.tasks:.0f} %",
        f"{level.spread:.2f}",
        count_text(None if level.tokens is None else round(level.tokens)),
        UNKNOWN if level.calls is None else f"{level.calls:.1f}",
        cost_text(level.cost),
    )


def _advice(found: PilotHeadroom, tasks: int, attempts: int, job: Path) -> str:
    """Say in one sentence whether to go on, to take other tasks, or to ask about cost only."""
    whole = found.whole
    between = whole.tasks - whole.ceiling - whole.floor
    first = (
        f"`{SELECT} --pilot {shlex.quote(str(job))}` selects those between 0 and 1 first ({between} of {whole.tasks})"
    )
    if whole.floor == whole.tasks:
        return "Take other tasks: the agent earned nothing on any, so nothing shows that they can be solved."
    if found.noise.finds(1, tasks, attempts) is not None:
        return f"Go on: there is room for a rise that this design detects; {first}."
    if whole.typical >= 1:
        return (
            f"Ask about cost only: {whole.ceiling} of {counted(whole.tasks, 'task')} are at the ceiling, so a "
            "comparison can show `as good` and `for less`, but no rise; for a rise, take other tasks."
        )
    return f"Take other tasks, or more of them: this design would not detect even the largest possible rise; {first}."

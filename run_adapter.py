#!/usr/bin/env python3
"""Generate Harbor task directories from the JSONL dataset, usually for a selection of its tasks."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from locobench.dataset.catalog import BASE_IMAGE
from locobench.shared.command_line import COUNT, DONE, NOTHING_DONE, PATH, SOME_FAILED, Choice, option, script
from locobench.shared.errors import InputError
from locobench.shared.installation import EXTRACT, SCRIPTS, SELECT
from locobench.shared.terminal import complain, first_few, progress, say


@script("Generate Harbor task directories; without --selected_tasks or --task_ids, for the whole dataset.")
@option("--dataset_path", type=PATH, default="locobench_dataset.jsonl", help=f"JSONL written by {EXTRACT}.")
@option("--output_dir", type=PATH, default="tasks", help="Folder to write the task directories to.")
@option("--selected_tasks", type=PATH, help=f"JSON written by {SELECT}; only its tasks are generated.")
@option("--task_ids", multiple=True, metavar="ID ...", help="Generate these tasks only.")
@option("--limit", type=COUNT, help="Generate at most this many tasks.")
@option("--data_dir", type=PATH, help="Folder with generated/ and output/ (default: data/, else the bundled sample).")
@option("--base_image", metavar="NAME", default=BASE_IMAGE, help="Debian or Ubuntu image to start from.")
@option("--languages", type=PATH, metavar="FILE", help="TOML file with more languages (CONTRIBUTING.md).")
@option(
    "--language_image", metavar="NAME", help="Prebuilt images, as registry/x-{language}:1 (docs/RUNNING_AT_SCALE.md)."
)
@option("--agent_timeout_sec", type=float, default=1800.0, help="Seconds that an agent has for one task.")
@option("--cpus", type=int, default=2, help="Processors of a container.")
@option("--memory_mb", type=int, default=4096, help="Memory of a container in MB.")
@option("--storage_mb", type=int, default=10240, help="Disk of a container in MB.")
@option("--include_hints", is_flag=True, help="Put expected approach and criteria into the instruction.")
@option("--scoring", type=Choice(["evidence", "published"]), default="evidence", help="The formula (docs/VERIFIER.md).")
@option(
    "--verifier", metavar="judge|FILE", help="A model (docs/JUDGE.md), or your verify.py (docs/CUSTOM_VERIFIER.md)."
)
@option("--closed_book", is_flag=True, help="Leave the code out: what can be answered without reading it.")
@option("--mcp_config", type=PATH, metavar="FILE", help="MCP servers for the agent, as a .mcp.json has them.")
@option("--dataset_name", metavar="ORG/NAME", help="Also write the manifest of a Harbor dataset beside the tasks.")
@option("--mirror_repos", type=PATH, metavar="DIR", help="Also write the projects as git repositories.")
@option("--quiet", is_flag=True, help="No progress, no summary, no warnings about files left out.")
def main(
    dataset_path: Path,
    output_dir: Path,
    selected_tasks: Path | None,
    task_ids: tuple[str, ...],
    limit: int | None,
    data_dir: Path | None,
    verifier: str | None,
    mcp_config: Path | None,
    dataset_name: str | None,
    mirror_repos: Path | None,
    quiet: bool,
    **choices: Any,
) -> int:
    """Run the command; the exit code is 1 if tasks failed or there was none to generate."""
    from adapter import LoCoBenchAdapter, LoCoBenchLoader, Options
    from locobench.dataset.catalog import load_languages
    from locobench.dataset.data_folder import find_data_folder
    from locobench.generate import dataset, mirror
    from locobench.generate.folder import beside
    from locobench.harbor.mcp import McpServer
    from locobench.scoring.grader import DETERMINISTIC, JUDGE, CustomVerifier
    from locobench.selection.read import read_selection

    tell = (lambda _: None) if quiet else say
    load_languages(choices["languages"])
    options = Options(
        **choices,
        verifier=JUDGE if verifier == JUDGE else CustomVerifier.load(Path(verifier)) if verifier else DETERMINISTIC,
        mcp_servers=McpServer.load(mcp_config) if mcp_config else (),
    )
    data_dir = find_data_folder(data_dir, needs="generated", quiet=quiet)
    check_apart(output_dir, data_dir, "--output_dir")
    if mirror_repos:
        check_apart(mirror_repos, data_dir, "--mirror_repos")
    loader = LoCoBenchLoader(where_written(dataset_path))
    selection = where_written(selected_tasks) if selected_tasks and not task_ids else None
    selected = read_selection(selection) if selection else {}
    chosen = list(selected if selection else task_ids or loader.all_ids())
    wanted = loader.require(chosen)[:limit]
    if not wanted:
        empty = "--limit is 0" if chosen else f"{selected_tasks or dataset_path} names none"
        complain(f"{output_dir}: no task to generate: {empty}")
        return NOTHING_DONE
    pilots = {task_id: pilot for task_id, pilot in selected.items() if pilot}
    adapter = LoCoBenchAdapter(loader, output_dir, data_dir, options, pilots=pilots)
    if dataset_name:
        dataset.check(output_dir, dataset_name)

    counts: Counter[str] = Counter()
    whole: list[str] = []
    missing: Counter[str] = Counter()
    for outcome in progress(adapter.generate(wanted), len(wanted), "Generating", quiet=quiet):
        counts[outcome.status] += 1
        for warning in outcome.warnings if not quiet else ():
            complain(f"{outcome.task_id}: {warning}")
        counts["lacking"] += bool(outcome.missing)
        missing.update(outcome.missing)
        if outcome.status == "failed":
            complain(f"{outcome.task_id}: {outcome.reason}; not written")
            continue
        whole.append(outcome.task_id)
    rest = f"{counts['unchanged']} unchanged, {counts['failed']} failed"
    tell(f"{counts['written']} tasks written to {output_dir}, {rest}")
    if missing:
        names = first_few([name for name, _ in missing.most_common()])
        tell(f"in {counts['lacking']} of them context files that do not exist are not scored: {names}")
    if others := beside(output_dir, wanted):
        complain(
            f"{output_dir}: {len(others)} other tasks are also in this folder and will run ({first_few(others)}):"
            " move them away, name another --output_dir, or leave them out with -x"
        )
    manifest = output_dir / dataset.MANIFEST
    if dataset_name:
        dataset.publish(output_dir, dataset_name, whole)
        tell(f"dataset {dataset_name} of {len(whole)} tasks in {manifest}")
    elif counts["written"] and manifest.exists():
        complain(f"{manifest}: its digests are stale; --dataset_name writes it again")
    if mirror_repos:
        groups = adapter.group_by_project(wanted)
        failures = mirror.mirror_repos(groups, loader.load, mirror_repos)
        for project, reason in failures.items():
            complain(f"{project}: {reason}; not mirrored")
        counts["failed"] += len(failures)
        tell(f"repositories listed in {mirror_repos / mirror.INDEX_FILE}, {len(failures)} failed")
    return SOME_FAILED if counts["failed"] else DONE


def check_apart(folder: Path, data_dir: Path, flag: str) -> None:
    """Raise InputError if an output folder lies inside the input data."""
    place, data = folder.resolve(), data_dir.resolve()
    if place == data or any(place.is_relative_to(data / name) for name in ("generated", "output")):
        raise InputError(f"{folder}: lies among the data of {data_dir}; {flag} must name a folder apart from them")


def where_written(path: Path) -> Path:
    """Return a file of an earlier script: in the current folder, even if the path names the folder of the scripts."""
    is_elsewhere = not path.exists() and path.parent.resolve() == SCRIPTS
    return Path(path.name) if is_elsewhere and Path(path.name).exists() else path


if __name__ == "__main__":
    main()

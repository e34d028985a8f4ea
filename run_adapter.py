#!/usr/bin/env python3
"""Generate Harbor task directories from the JSONL dataset, usually for a selection of its tasks."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from locobench.dataset.catalog import BASE_IMAGE
from locobench.shared.command_line import COUNT, DONE, NOTHING_DONE, PATH, POSITIVE, SOME_FAILED, Choice, option, script
from locobench.shared.errors import InputError
from locobench.shared.installation import EXTRACT, SCRIPTS, SELECT
from locobench.shared.terminal import complain, first_few, progress, say

if TYPE_CHECKING:
    from adapter import LoCoBenchAdapter, Options


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
@option("--agent_timeout_sec", type=float, default=1800.0, help="Time limit of the agent for each task, in seconds.")
@option("--cpus", type=POSITIVE, default=2, help="CPUs of each container.")
@option("--memory_mb", type=POSITIVE, default=4096, help="Memory of each container in MB.")
@option("--storage_mb", type=POSITIVE, default=10240, help="Disk of each container in MB.")
@option("--include_hints", is_flag=True, help="Put expected approach and criteria into the instruction.")
@option(
    "--scoring",
    type=Choice(["evidence", "published"]),
    default="evidence",
    help="How answers are scored (docs/VERIFIER.md).",
)
@option("--verifier", type=PATH, metavar="FILE", help="A verify.py of your own (docs/CUSTOM_VERIFIER.md).")
@option("--closed_book", is_flag=True, help="Leave the code out, to see what can be answered without it.")
@option("--mcp_config", type=PATH, metavar="FILE", help="MCP servers for the agent, in the format of .mcp.json.")
@option(
    "--remote_output_dir",
    type=PATH,
    help="Also write the tasks here with the servers of --mcp_config in place of the code.",
)
@option("--dataset_name", metavar="ORG/NAME", help="Also write the manifest of a Harbor dataset beside the tasks.")
@option(
    "--mirror_repos",
    type=PATH,
    metavar="DIR",
    help="Also write the projects as git repositories, for a server to index.",
)
@option("--quiet", is_flag=True, help="No progress, no summary, no warnings about files left out.")
def main(
    dataset_path: Path,
    output_dir: Path,
    selected_tasks: Path | None,
    task_ids: tuple[str, ...],
    limit: int | None,
    data_dir: Path | None,
    verifier: Path | None,
    mcp_config: Path | None,
    remote_output_dir: Path | None,
    dataset_name: str | None,
    mirror_repos: Path | None,
    quiet: bool,
    **choices: Any,
) -> int:
    """Run the command; the exit code is 1 if tasks failed or there was none to generate."""
    from adapter import LoCoBenchAdapter, LoCoBenchLoader, Options
    from locobench.dataset.catalog import load_languages
    from locobench.dataset.data_folder import find_data_folder
    from locobench.derive.kinds import STRUCTURE
    from locobench.generate import dataset, mirror
    from locobench.generate.options import CustomVerifier
    from locobench.harbor.mcp import McpServer
    from locobench.selection.candidates import read_selection

    load_languages(choices["languages"])
    options = Options(
        **choices,
        verifier=CustomVerifier.load(verifier) if verifier else None,
        mcp_servers=McpServer.load(mcp_config) if mcp_config else (),
    )
    arms = arms_of(options, output_dir, remote_output_dir)
    data_dir = find_data_folder(data_dir, needs="generated", quiet=quiet)
    loader = LoCoBenchLoader(where_written(dataset_path))
    selected = read_selection(where_written(selected_tasks)) if selected_tasks else {}
    chosen = list(task_ids or (selected if selected_tasks else loader.all_ids()))
    wanted = loader.require(chosen)[:limit]
    if not wanted:
        empty = "--limit is 0" if chosen else f"{selected_tasks or dataset_path} names none"
        complain(f"{output_dir}: no task to generate: {empty}")
        return NOTHING_DONE
    if dataset_name:
        dataset.check(output_dir, dataset_name)

    tell = (lambda _: None) if quiet else say
    pilots = {task_id: (pilot.runs, pilot.level) for task_id, pilot in selected.items() if pilot}
    failed = 0
    for folder, choice in arms.items():
        adapter = LoCoBenchAdapter(loader, folder, data_dir, replace(choice, pilots=pilots))
        made = generate(adapter, wanted, quiet=quiet)
        failed += len(made["failed"])
        whole = made["written"] + made["unchanged"]
        manifest = folder / dataset.MANIFEST
        if dataset_name and folder == output_dir:
            dataset.publish(folder, dataset_name, whole)
            tell(f"dataset {dataset_name} of {len(whole)} tasks in {manifest}")
        elif made["written"] and manifest.exists():
            complain(f"{manifest}: its digests are stale; --dataset_name writes it again")
    if mirror_repos:
        mirrored = mirror.mirror_repos(adapter.group_by_project(whole), loader.load, mirror_repos)
        for repository, questions in mirrored.answered.items():
            complain(
                f"{mirror_repos}: the projects of later commits hold the answers to questions from the history of"
                f" {repository} ({questions}); let the server index each project alone, or leave these questions out by"
                f" `{SELECT} --categories {STRUCTURE}`"
            )
        if mirrored.unlisted:
            complain(
                f"{mirror_repos}: {mirror.INDEX_FILE} does not name the projects of earlier calls"
                f" ({first_few(mirrored.unlisted)}); remove them before a server indexes the whole folder"
            )
        tell(f"git repositories for a server: see {mirror_repos / mirror.INDEX_FILE}")
    return SOME_FAILED if failed else DONE


def arms_of(options: Options, output_dir: Path, remote_output_dir: Path | None) -> dict[Path, Options]:
    """Return the options of the tasks in each output folder: with the code, or with the servers instead of it.

    Raises:
        InputError: the tasks without the code would have no server, or both are to go into one folder.
    """
    if remote_output_dir is None:
        return {output_dir: options}
    if options.closed_book or not options.mcp_servers:
        raise InputError(
            "--remote_output_dir: needs --mcp_config; leave out --closed_book, which its tasks have anyway"
        )
    if remote_output_dir.resolve() == output_dir.resolve():
        raise InputError(f"{remote_output_dir}: --remote_output_dir must name another folder than --output_dir")
    return {output_dir: replace(options, mcp_servers=()), remote_output_dir: replace(options, closed_book=True)}


def generate(adapter: LoCoBenchAdapter, wanted: list[str], *, quiet: bool) -> dict[str, list[str]]:
    """Generate the tasks, print what became of them, and return their ids by status."""
    made: dict[str, list[str]] = {"written": [], "unchanged": [], "failed": []}
    lacking, missing = 0, Counter[str]()
    for outcome in progress(adapter.generate(wanted), len(wanted), "Generating", quiet=quiet):
        made[outcome.status].append(outcome.task_id)
        for warning in outcome.warnings if not quiet else ():
            complain(f"{outcome.task_id}: {warning}")
        lacking += bool(outcome.missing)
        missing.update(outcome.missing)
        if outcome.status == "failed":
            complain(f"{outcome.task_id}: {outcome.reason}; not written")
    if not quiet:
        rest = f"{len(made['unchanged'])} unchanged, {len(made['failed'])} failed"
        say(f"{len(made['written'])} tasks written to {adapter.output_dir}, {rest}")
        if missing:
            names = first_few([name for name, _ in missing.most_common()])
            say(f"context files that do not exist are not scored (tasks: {lacking}): {names}")
    from locobench.generate.folder import other_tasks

    if others := other_tasks(adapter.output_dir, wanted):
        complain(
            f"{adapter.output_dir}: {len(others)} other tasks are also in this folder and will run"
            f" ({first_few(others)}): move them away, name another --output_dir, or leave them out with -x"
        )
    return made


def where_written(path: Path) -> Path:
    """Return a file of an earlier script: in the current folder, even if the path names the folder of the scripts."""
    is_elsewhere = not path.exists() and path.parent.resolve() == SCRIPTS
    return Path(path.name) if is_elsewhere and Path(path.name).exists() else path


if __name__ == "__main__":
    main()

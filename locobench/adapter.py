"""LoCoBench-Agent scenarios as Harbor tasks: the record, its loader, and the adapter that writes task directories."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import multiprocessing
import os
import signal
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import TypeAdapter

from locobench.dataset.loader import LoCoBenchLoader, LoCoBenchTask, UnknownTaskError
from locobench.dataset.records import DatasetError
from locobench.dataset.scenario import folder_name
from locobench.generate.fingerprint import content_fingerprint, fingerprint
from locobench.generate.folder import STATE_FILE, NotOurs, output_folder, stored_fingerprint, write_task
from locobench.generate.make import Options, make_task, render_dockerfile
from locobench.generate.project import Known, Project, ProjectTasks
from locobench.scoring.grading import GradingError
from locobench.shared.errors import InputError
from locobench.shared.files import write_whole
from locobench.shared.terminal import first_few

__all__ = [
    "DatasetError",
    "LoCoBenchAdapter",
    "LoCoBenchLoader",
    "LoCoBenchTask",
    "Made",
    "UnknownTaskError",
]


class Made(NamedTuple):
    """The outcome of one task."""

    task_id: str
    status: Literal["written", "unchanged", "repaired", "failed"]
    reason: str = ""
    """Why it failed, or which of its files had changed since it was written."""
    warnings: tuple[str, ...] = ()


class LoCoBenchAdapter:
    """Writes tasks as Harbor task directories `output_dir`/<id>/, with projects from `data_dir`/generated/."""

    def __init__(
        self,
        loader: LoCoBenchLoader,
        output_dir: Path,
        data_dir: Path,
        options: Options | None = None,
        *,
        overwrite: bool = False,
    ) -> None:
        self.loader = loader
        self.output_dir = Path(output_dir)
        self.data_dir = Path(data_dir)
        self.options = options or Options()
        self.overwrite = overwrite

    def generate(self, task_ids: Iterable[str], *, jobs: int | None = None) -> Iterator[Made]:
        """Generate tasks and yield each outcome as it is known; a failed task does not stop the others.

        Args:
            jobs: number of processes; default one per processor. Tasks of one project share a process.

        Raises:
            UnknownTaskError: an id is not in the dataset (raised before anything is written).
            InputError: the output folder cannot be written, or another run is writing to it.
        """
        groups = self.group_by_project(task_ids)
        with output_folder(self.output_dir):
            known = _read_state(self.output_dir)
            try:
                for folder, outcomes, project in self._made(groups, known, jobs or os.cpu_count() or 1):
                    if project:
                        known[folder] = project
                    yield from outcomes
            finally:
                # The disk may be full; losing the state only costs time.
                with contextlib.suppress(InputError):
                    write_whole(self.output_dir / STATE_FILE, json.dumps(known, sort_keys=True))

    def _made(
        self, groups: list[ProjectTasks], known: dict[str, Known], jobs: int
    ) -> Iterator[tuple[str, list[Made], Known | None]]:
        """Yield (project folder, outcomes, what is now known about it) for each group as it finishes."""
        if jobs == 1 or len(groups) < 2:
            for group in groups:
                folder = str(group.folder)
                yield folder, *self.generate_group(group, known.get(folder))
            return
        # Forked workers share this process's memory; elsewhere than on Linux that is not safe.
        context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
        with ProcessPoolExecutor(min(jobs, len(groups)), context, become_worker, (self,)) as pool:
            pending = {pool.submit(_generate_group, group, known.get(str(group.folder))): group for group in groups}
            try:
                for future in as_completed(pending):
                    group = pending.pop(future)
                    try:
                        yield str(group.folder), *future.result()
                    except BrokenExecutor:
                        reason = "a worker process was killed (out of memory?); run again to finish"
                        yield str(group.folder), [Made(task_id, "failed", reason) for task_id in group.task_ids], None
            finally:
                pool.shutdown(wait=True, cancel_futures=True)

    def group_by_project(self, task_ids: Iterable[str]) -> list[ProjectTasks]:
        """Group the ids by project, so that each is read once; raise UnknownTaskError if one is not in the dataset."""
        groups: dict[Path, ProjectTasks] = {}
        for task_id in self.loader.require(task_ids):
            folder = self._get_project_dir(task_id)
            groups.setdefault(folder, ProjectTasks(folder, [])).task_ids.append(task_id)
        return list(groups.values())

    def generate_group(self, group: ProjectTasks, known: Known | None = None) -> tuple[list[Made], Known | None]:
        """Generate tasks that share one project.

        Args:
            known: what an earlier call returned for this project.

        Returns:
            The outcomes, and what spares the next call reading the project again.
        """
        outcomes: list[Made] = []
        project: Project | None = None
        for task_id in group.task_ids:
            try:
                if project is None:
                    project = Project.scan(group.folder, known)
                outcomes.append(self.generate_task(task_id, project=project))
            except (InputError, GradingError, NotOurs) as error:
                outcomes.append(Made(task_id, "failed", str(error)))
            except OSError as error:
                reason = f"{error.filename or self.output_dir}: {error.strerror or error}"
                outcomes.append(Made(task_id, "failed", reason))
        whole = [outcome.task_id for outcome in outcomes if outcome.status != "failed"]
        states = {task_id: Project.scan(self.output_dir / task_id).state for task_id in whole}
        seen = {**(known.tasks if known else {}), **states}
        return outcomes, Known(project.state, project.content, seen) if project and whole else None

    def generate_task(
        self,
        task_id: str,
        local_task_id: str | None = None,
        *,
        project: Project | None = None,
    ) -> Made:
        """Write one task's directory, unless it already exists, is intact and was made from the same input.

        Args:
            local_task_id: the directory's name, as in Harbor's adapters; the task's id by default.
            project: the task's project, if already scanned; tasks that it knows to be untouched are not read again.

        Raises:
            UnknownTaskError, DatasetError: the record is missing or invalid.
            InputError: there is no table for its language, or `local_task_id` is not a valid folder name.
            GradingError: answers cannot be scored against the ground truth.
            NotOurs: a folder that was not generated has the task's name.
            OSError: a file cannot be read or written.
        """
        line = self.loader.line(task_id)
        if project is None:
            project = Project.scan(self._get_project_dir(task_id))
        name = task_id if local_task_id is None else local_task_id
        try:
            folder = self.output_dir / folder_name(name)
        except ValueError as error:
            raise InputError(f"{name!r}: {error}") from None
        made_from = (line, self.loader.entry(task_id).language, project.content, self.options)
        digest = fingerprint(*made_from)
        is_current = stored_fingerprint(folder) == digest and not self.overwrite
        known = project.known.tasks if project.known else {}
        if is_current and known.get(task_id) == Project.scan(folder).state:
            return Made(task_id, "unchanged")

        task = self.loader.load(task_id)
        mapping = project.mapping(task.context_files)
        files = make_task(task, mapping, self.options, digest, content_fingerprint(*made_from))
        self.output_dir.mkdir(parents=True, exist_ok=True)
        if damage := write_task(folder, files, mapping, self.options, is_current=is_current):
            return Made(task_id, "repaired", first_few(damage))
        return Made(task_id, "unchanged") if is_current else Made(task_id, "written", warnings=mapping.warnings)

    def _get_project_dir(self, task_id: str) -> Path:
        """Return the task's project folder below generated/."""
        return self.data_dir / "generated" / self.loader.entry(task_id).project_id

    def _generate_dockerfile(self, language: str) -> str:
        """Return a language's Dockerfile: the shared base layer, the language's packages, the project."""
        return render_dockerfile(language, self.options)


def _read_state(folder: Path) -> dict[str, Known]:
    """Return what the last run knew, by project folder. Losing it only costs time."""
    try:
        return TypeAdapter(dict[str, Known]).validate_json((folder / STATE_FILE).read_bytes())
    except (OSError, ValueError):
        return {}


_adapter: LoCoBenchAdapter
"""A worker's adapter, sent once instead of with every group."""


def become_worker(adapter: LoCoBenchAdapter) -> None:
    """Prepare a worker process: it leaves Ctrl-C to the command and ends when the command ends."""
    global _adapter
    _adapter = adapter
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The garbage collector writes to every object it visits, which would unshare the pages.
    gc.freeze()
    if sys.platform == "linux":
        # An orphan would hold locks and files that the next run needs.
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def _generate_group(group: ProjectTasks, known: Known | None) -> tuple[list[Made], Known | None]:
    return _adapter.generate_group(group, known)

"""Run task generation: on all processors, one run per output folder at a time, fast where nothing changed."""

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

from filelock import FileLock, Timeout

from locobench.generate.folder import sweep
from locobench.generate.maker import Made, ProjectTasks, TaskMaker
from locobench.generate.project import Known
from locobench.shared.errors import InputError
from locobench.shared.files import write_whole

LOCK_FILE = ".generating.lock"
STATE_FILE = ".projects.json"


def generate(maker: TaskMaker, task_ids: Iterable[str], *, jobs: int | None = None) -> Iterator[Made]:
    """Generate tasks on `jobs` processes (default: one per processor) and yield each outcome as it is known.

    Raises:
        InputError: an id is not in the dataset, the output folder cannot be written, or another run is writing to it.
    """
    groups = maker.group_by_project(task_ids)
    with output_folder(maker.output_dir):
        known = _read_state(maker.output_dir)
        try:
            for folder, outcomes, project in _groups(maker, groups, known, jobs or os.cpu_count() or 1):
                if project:
                    known[folder] = project
                yield from outcomes
        finally:
            # The disk may be full; losing the state only costs time.
            with contextlib.suppress(InputError):
                write_whole(maker.output_dir / STATE_FILE, json.dumps(known, sort_keys=True))


@contextlib.contextmanager
def output_folder(folder: Path) -> Iterator[None]:
    """Create the folder, lock out other runs, and clean up after a killed run."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / LOCK_FILE, timeout=0):
            sweep(folder)
            yield
    except Timeout:
        raise InputError(f"{folder}: another run is writing to it; wait for it or name another --output_dir") from None
    except OSError as error:
        raise InputError(
            f"{error.filename or folder}: {error.strerror or error}; --output_dir must be a folder that can be written"
        ) from None


def _read_state(folder: Path) -> dict[str, Known]:
    """Return what the last run knew, by project folder. Losing it only costs time."""
    try:
        stored = json.loads((folder / STATE_FILE).read_bytes())
        return {
            str(name): Known(str(state), str(content), {str(task): str(one) for task, one in tasks.items()})
            for name, (state, content, tasks) in stored.items()
        }
    except (OSError, ValueError, AttributeError, TypeError):
        return {}


def _groups(
    maker: TaskMaker, groups: list[ProjectTasks], known: dict[str, Known], jobs: int
) -> Iterator[tuple[str, list[Made], Known | None]]:
    """Yield (project folder, outcomes, what is now known about it) for each group as it finishes."""
    if jobs == 1 or len(groups) < 2:
        for group in groups:
            folder = str(group.folder)
            yield folder, *maker.generate_group(group, known.get(folder))
        return
    # Forked workers share this process's memory; elsewhere than on Linux that is not safe.
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    with ProcessPoolExecutor(min(jobs, len(groups)), context, become_worker, (maker,)) as pool:
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


_maker: TaskMaker
"""A worker's task maker, sent once instead of with every group."""


def become_worker(maker: TaskMaker) -> None:
    """Prepare a worker process: it leaves Ctrl-C to the command and ends when the command ends."""
    global _maker
    _maker = maker
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The garbage collector writes to every object it visits, which would unshare the pages.
    gc.freeze()
    if sys.platform == "linux":
        # An orphan would hold locks and files that the next run needs.
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def _generate_group(group: ProjectTasks, known: Known | None) -> tuple[list[Made], Known | None]:
    return _maker.generate_group(group, known)

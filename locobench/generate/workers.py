"""Spread work over processes."""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, as_completed
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_work: Callable[[Any], Any]
"""What a worker does, sent once instead of with every item."""


def spread(work: Callable[[Item], Result], items: Sequence[Item], jobs: int) -> Iterator[tuple[Item, Result | None]]:
    """Do `work` on the items in `jobs` processes; yield each item with its result as soon as it is known.

    The result is None if the item's process was killed.
    """
    if jobs == 1 or len(items) < 2:
        yield from ((item, work(item)) for item in items)
        return
    # Forked workers share this process's memory; elsewhere than on Linux that is not safe.
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    with ProcessPoolExecutor(min(jobs, len(items)), context, become_worker, (work,)) as pool:
        pending = {pool.submit(_do, item): item for item in items}
        try:
            for future in as_completed(pending):
                item = pending.pop(future)
                try:
                    yield item, future.result()
                except BrokenExecutor:
                    yield item, None
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def become_worker(work: Callable[[Any], Any]) -> None:
    """Prepare a worker process: it leaves Ctrl-C to the command and ends when the command ends."""
    global _work
    _work = work
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The garbage collector writes to every object it visits, which would unshare the pages.
    gc.freeze()
    if sys.platform == "linux":
        # An orphan would hold locks and files that the next run needs.
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def _do(item: Any) -> Any:
    return _work(item)

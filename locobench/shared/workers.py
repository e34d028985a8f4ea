"""Worker processes for a command: they leave Ctrl-C to it and end when it ends."""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import signal
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any


def worker_pool(jobs: int, start: Callable[..., None], *arguments: Any) -> ProcessPoolExecutor:
    """Return a pool of `jobs` processes; each calls `start(*arguments)` first.

    On Linux they are forked and share this process's memory; elsewhere they are spawned.
    """
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    return ProcessPoolExecutor(jobs, context, _become_worker, (start, arguments))


def _become_worker(start: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The garbage collector writes to every object it visits, which would unshare the pages.
    gc.freeze()
    if sys.platform == "linux":
        # An orphan would hold locks and files that the next run needs.
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)
    start(*arguments)

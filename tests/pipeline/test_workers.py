"""What a worker process shares with the one that started it."""

from __future__ import annotations

import gc
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

from locobench.generate.workers import become_worker


def test_a_workers_collector_leaves_alone_what_was_loaded_before_it_started() -> None:
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork"), become_worker, (str,)) as pool:
        assert pool.submit(gc.get_freeze_count).result() > 10_000

"""What a worker process shares with the one that started it."""

from __future__ import annotations

import gc

from locobench.shared.workers import worker_pool


def nothing() -> None:
    """What a worker has to prepare."""


def test_a_workers_collector_leaves_alone_what_was_loaded_before_it_started() -> None:
    with worker_pool(1, nothing) as pool:
        assert pool.submit(gc.get_freeze_count).result() > 10_000

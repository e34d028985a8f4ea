"""What a worker process shares with the one that started it."""

from __future__ import annotations

import gc
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from locobench.adapter import LoCoBenchAdapter, become_worker
from tests.pipeline.test_adapter import loader
from tests.support.data_builder import Data


def test_a_workers_collector_leaves_alone_what_was_loaded_before_it_started(data: Data, tmp_path: Path) -> None:
    data.scenario()
    adapter = LoCoBenchAdapter(loader(data, tmp_path), tmp_path / "tasks", data.folder)
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork"), become_worker, (adapter,)) as pool:
        assert pool.submit(gc.get_freeze_count).result() > 10_000

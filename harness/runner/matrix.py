"""Makes the planned runs of a matrix in parallel, with retries, limits and a journal."""

from __future__ import annotations

import contextlib
import queue
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from harness.models import ErrorKind, EvalResult
from harness.runner.plan import Key, PlannedRun, find_finished
from harness.runner.single import SingleRun, StopMatrix
from harness.sandbox import scratch
from locobench.shared.errors import InputError
from measure.results.journal import Journal

Callback = Callable[[EvalResult, int, int], None]
"""Called after every run with its result, the number of finished runs and the total number of runs."""

ATTEMPTS = 3
"""How often a run is tried whose service fails."""
FIRST_WAIT_SECONDS = 5.0
"""Wait before the second attempt; triples with every attempt, with a jitter of 25%."""
LONGEST_WAIT_SECONDS = 300.0
"""If a usage limit resets later than this, the matrix stops instead."""

ENDS_WITHIN = 3.5
"""Seconds that an interrupted matrix waits for its workers. A grading that takes longer is left for the next call."""


class MatrixStopped(Exception):
    """The matrix ended before all its runs were done; `results` holds the finished ones."""

    def __init__(self, reason: str, results: list[EvalResult], *, interrupted: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.results = results
        self.interrupted = interrupted


def sum_costs(results: Iterable[EvalResult]) -> float:
    """Return the known cost of a journal in US$; the last result of a run includes the cost of its earlier ones."""
    return sum(result.spent_usd for result in {result.key: result for result in results}.values())


@dataclass
class Matrix:
    """Executes planned runs with several workers; every finished run is written to the journal at once."""

    single: SingleRun
    journal: Journal[EvalResult]
    """Receives each run before it is graded, and again afterwards."""
    workers: int = 1
    max_cost_usd: float | None = None
    """Once this is spent, no further run starts."""

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._stop_reason = ""
        self._hold_until = 0.0
        self._spent = 0.0
        self._fault: BaseException | None = None
        self._interrupted = False
        self._closed = False
        self._known: dict[Key, EvalResult] = {}
        """The last result of each run, graded or not."""
        self._number = 0
        """Number of finished runs."""
        self._lost: dict[Key, float] = {}
        """What earlier calls spent, in US$, on runs that have to be repeated."""
        self._finished: queue.Queue[tuple[EvalResult, int] | None] = queue.Queue()
        """Results in the journal, each with the number of finished runs so far; None when a worker has ended."""
        self._working = 0
        """Workers that have not ended."""

    def run(self, runs: list[PlannedRun], callback: Callback | None = None) -> list[EvalResult]:
        """Return the results of all runs in the plan's order; runs in the journal are not repeated.

        MatrixStopped if the matrix was interrupted, is out of budget, or met an error that would hit every run.
        """
        entries = self.journal.entries
        done = find_finished(runs, entries)
        for result in entries:  # a kill may have come between the grades of a run and the end of its files
            if result.key in done and done[result.key].kept_project is None:
                scratch.discard(result.kept_project)
        self._spent = sum_costs(entries)
        self._lost = {r.key: r.spent_usd for r in entries if r.key not in done}
        left = deque(run for run in runs if run.key not in done or done[run.key].is_ungraded)
        self._known, self._number = dict(done), len(runs) - len(left)
        self._working = min(self.workers, len(left))
        for _ in range(self._working):
            threading.Thread(target=self._work, args=(left,), daemon=True).start()
        try:
            self._report(len(runs), callback)
        except BaseException as error:  # end the runs in progress, and journal those that finished
            self._interrupted = isinstance(error, KeyboardInterrupt)
            if not self._interrupted:
                self._fault = error
            self._stop("interrupted")
            self.single.executor.cancel()
            with contextlib.suppress(KeyboardInterrupt):  # a second Ctrl-C means: do not wait
                self._report(len(runs), None, until=time.monotonic() + ENDS_WITHIN)
        with self._lock:  # from here on, workers that are still running change nothing
            self._closed = True
        if self._fault is not None:
            raise self._fault
        results = [self._known[run.key] for run in runs if run.key in self._known]
        if self._stop_reason:
            raise MatrixStopped(self._stop_reason, results, interrupted=self._interrupted)
        return results

    def _report(self, total: int, callback: Callback | None, until: float = float("inf")) -> None:
        """Report finished runs to the callback until all workers have ended or the time is up."""
        while self._working and time.monotonic() < until:
            try:
                item = self._finished.get(timeout=0.2)
            except queue.Empty:
                continue
            if item is None:
                self._working -= 1
            elif callback is not None:
                callback(item[0], item[1], total)

    def _record(self, run: PlannedRun, result: EvalResult, *, finished: bool = True) -> bool:
        """Write a result to the journal; return False if the matrix ended before."""
        # Runs in the worker: Ctrl-C interrupts the main thread, and must not do so between journal and results.
        with self._lock:
            if self._closed:
                return False
            self.journal.append(result)
            scratch.keep(result.kept_project)
            self._known[run.key] = result
            if finished:
                self._number += 1
                self._finished.put((result, self._number))
            return True

    def _work(self, left: deque[PlannedRun]) -> None:
        try:
            while (run := self._next(left)) is not None:
                result = self._known.get(run.key)
                if result is None:
                    result = self._try(run)
                    if result.trace.error_kind is ErrorKind.INTERRUPTED:
                        continue
                    if result.is_ungraded:
                        self._record(run, result, finished=False)
                if not self._interrupted:
                    self._finish(run, result)
        except StopMatrix as error:
            self._stop(str(error))
        except BaseException as error:  # must end the whole matrix, not just this thread
            self._fault = error
            self._stop(str(error))
            self.single.executor.cancel()
        finally:
            self._finished.put(None)

    def _next(self, left: deque[PlannedRun]) -> PlannedRun | None:
        while not self._stopping.is_set() and (hold := self._hold_until - time.monotonic()) > 0:
            self._stopping.wait(hold)
        with self._lock:
            if self.max_cost_usd is not None and self._spent >= self.max_cost_usd and left:
                spent = f"the budget of ${self.max_cost_usd:g} is used up (${self._spent:.2f} spent)"
                self._stop(f"{spent}; go on with a higher --max-cost-usd")
            if left and not self._stopping.is_set():
                try:
                    self.journal.reserve(self.workers)
                except InputError as error:  # the runs in progress still fit
                    self._stop(str(error))
            return left.popleft() if left and not self._stopping.is_set() else None

    def _finish(self, run: PlannedRun, result: EvalResult) -> None:
        """Add a run's missing grades, and record it."""
        graded = self.single.grade(run, result) if result.is_ungraded else result
        with self._lock:
            self._spent += graded.spent_usd - result.spent_usd
        if graded.refused_judge:
            self._stop(graded.refused_judge)
        if self._record(run, graded) and graded.kept_project is None:
            scratch.discard(result.kept_project)

    def _try(self, run: PlannedRun) -> EvalResult:
        """Make one run, with retries."""
        attempt, wasted = 1, self._lost.get(run.key, 0.0)
        while True:
            result = self.single.attempt(run)
            with self._lock:
                self._spent += result.spent_usd
            result = result.model_copy(update={"attempts": attempt, "retry_cost_usd": wasted})
            if self.max_cost_usd is not None and result.outcome.measured and result.cost_usd is None:
                self._stop("the cost of a run is not known, so no budget can be kept: drop it, or set token_prices")
            trace = result.trace
            if trace.error_kind.stops_matrix:
                self._stop(f"{trace.error_kind}: {trace.error}")
            if not trace.may_be_retried or attempt >= ATTEMPTS or self._stopping.is_set():
                return result
            wait = trace.retry_after_seconds
            if wait is None:
                seconds = FIRST_WAIT_SECONDS * 3.0 ** (attempt - 1)
                wait = min(LONGEST_WAIT_SECONDS, seconds) * random.uniform(0.75, 1.25)
            elif wait > LONGEST_WAIT_SECONDS:
                until = datetime.now() + timedelta(seconds=wait)
                self._stop(f"the usage limit resets at {until:%Y-%m-%d %H:%M}")
                return result
            if trace.error_kind.slows_all:
                self._hold_until = max(self._hold_until, time.monotonic() + wait)
            if self._stopping.wait(wait):
                return result
            wasted += result.spent_usd - result.retry_cost_usd
            attempt += 1

    def _stop(self, reason: str) -> None:
        self._stop_reason = self._stop_reason or reason
        self._stopping.set()

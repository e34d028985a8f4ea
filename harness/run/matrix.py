"""Which runs a matrix has, and how they are worked off: in parallel, with retries, limits and a journal."""

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

from harness.errors import InputError
from harness.models import Config, ErrorKind, EvalResult, Fingerprints, Task
from harness.results.journal import Journal
from harness.suite import fingerprint
from harness.suite.resolved import ResolvedConfig, resolve

Callback = Callable[[EvalResult, int, int], None]
"""Called after every run with its result, the number of runs done and the number of all runs."""

Key = tuple[str, str, str, int, Fingerprints]

ENDS_WITHIN = 3.5
"""Seconds that an interrupted matrix waits for its workers; a judge or a check that takes longer is left, not lost."""


class StopMatrix(Exception):
    """No further run can be made; those in progress still finish. The message says why."""


class MatrixStopped(Exception):
    """The matrix ended before all its runs were done; `results` holds those that are."""

    def __init__(self, reason: str, results: list[EvalResult], *, interrupted: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.results = results
        self.interrupted = interrupted


@dataclass(frozen=True)
class PlannedRun:
    """One cell of the matrix."""

    task: Task
    config: ResolvedConfig
    """With the model this run uses."""
    run_index: int
    fingerprints: Fingerprints

    @property
    def key(self) -> Key:
        """What a result must match to stand for this run."""
        return (self.task.id, self.config.name, self.config.model, self.run_index, self.fingerprints)


@dataclass(frozen=True)
class RetryPolicy:
    """How often and after how many seconds a run is tried again that the infrastructure failed."""

    attempts: int = 3
    first_wait: float = 5.0
    """Grows threefold with every attempt."""
    longest_wait: float = 300.0
    """When a usage limit resets later than this, the matrix stops instead."""

    def wait(self, attempt: int) -> float:
        """Seconds before the next attempt after the given one (from 1), give or take a quarter."""
        seconds: float = min(self.longest_wait, self.first_wait * 3.0 ** (attempt - 1))
        return seconds * random.uniform(0.75, 1.25)


def plan(
    tasks: Iterable[Task],
    configs: Iterable[Config],
    models: Iterable[str] | None,
    runs_per_combo: int,
    look_up: Callable[[Config], ResolvedConfig] = resolve,
    place: str = "",
) -> list[PlannedRun]:
    """All runs, in an order that puts the configs of one task next to each other in time.

    `look_up` resolves a config, with what its executor gives to every run. `place` is where they happen
    (`Executor.place`): runs in a container do not stand for runs on this machine.

    Raises:
        InputError: two runs could not be told apart, or a config names what this host does not have.
    """
    tasks = list(tasks)
    model_list = list(models or [])
    resolved = [look_up(config) for config in configs]
    for config in resolved:
        config.refuse_unknown_servers()
    variants = [c.model_copy(update={"model": m}) for c in resolved for m in model_list or [c.model]]
    names = [f"{t.id} / {c.name} / {c.model}" for t in tasks for c in variants]
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if twice:
        raise InputError(f"task / config / model is given twice: {twice[0]}; rename one of them")
    task_hashes = [fingerprint.of_task(task) for task in tasks]
    hashes = [fingerprint.of_data([c.fingerprint, place]) if place else c.fingerprint for c in variants]
    config_hashes = [(digest, config.user_level) for digest, config in zip(hashes, variants, strict=True)]
    return [
        PlannedRun(task, config, run_index, Fingerprints(task=task_hash, config=config_hash, user_level=user_level))
        for run_index in range(runs_per_combo)
        for task, task_hash in zip(tasks, task_hashes, strict=True)
        for config, (config_hash, user_level) in zip(variants, config_hashes, strict=True)
    ]


def finished_before(runs: Iterable[PlannedRun], results: Iterable[EvalResult]) -> dict[Key, EvalResult]:
    """Earlier results that stand for planned runs: the same content, and no infrastructure or setup error.

    A run whose files are gone before every check was carried out does not stand: only the agent can make it whole.
    """
    planned = {run.key for run in runs}
    kept = {}
    for result in results:
        key = result.key
        if key not in planned or not result.agent_finished:
            continue
        if result.lost_to != "grading_error" or result.is_ungraded:
            kept[key] = result
        else:
            kept.pop(key, None)
    return kept


def spent_usd(results: Iterable[EvalResult]) -> float:
    """Known cost of all results of a journal; the last one of a run carries what the earlier ones cost."""
    return sum(result.spent_usd for result in {result.key: result for result in results}.values())


class Matrix:
    """Works off planned runs with several workers; every finished run is in the journal at once."""

    def __init__(
        self,
        run: Callable[[PlannedRun], EvalResult],
        grade: Callable[[PlannedRun, EvalResult], EvalResult],
        journal: Journal[EvalResult],
        *,
        workers: int = 1,
        retry: RetryPolicy | None = None,
        max_cost_usd: float | None = None,
        cancel: Callable[[], None] = lambda: None,
        release: Callable[[EvalResult], None] = lambda _result: None,
    ) -> None:
        """Set up the work.

        Args:
            run: does one try, which is paid for; its grades are still missing.
            grade: gives the grades that are missing, and raises StopMatrix when it cannot.
            journal: gets each run before it is graded, and again afterwards.
            workers: runs at a time.
            retry: of what the infrastructure failed.
            max_cost_usd: no run is started once this is spent.
            cancel: ends the tries in progress.
            release: called with a run whose files are not needed any more, once its grades are on disk.
        """
        self._run = run
        self._grade = grade
        self._release = release
        self._journal = journal
        self._workers = workers
        self._retry = retry or RetryPolicy()
        self._max_cost_usd = max_cost_usd
        self._cancel = cancel
        self._lock = threading.Lock()
        self._record_lock = threading.Lock()
        self._stopping = threading.Event()
        self._stop_reason = ""
        self._hold_until = 0.0
        self._spent = 0.0
        self._fault: BaseException | None = None
        self._interrupted = False
        self._closed = False
        self._done: dict[Key, EvalResult] = {}
        self._waiting: dict[Key, EvalResult] = {}
        """Runs that were paid for and not graded yet."""
        self._lost: dict[Key, float] = {}
        """What earlier calls paid for runs that are to be made again."""
        self._finished: queue.Queue[tuple[EvalResult, int] | None] = queue.Queue()
        """What the workers have journalled, with the number of results then; None when a worker has ended."""

    def run(self, runs: list[PlannedRun], callback: Callback | None = None) -> list[EvalResult]:
        """Results of all runs in the order of the plan; what the journal holds is not run again.

        MatrixStopped when it ends early: interrupted, out of budget, or by an error every run would meet.
        """
        entries = self._journal.entries
        done = self._done = finished_before(runs, entries)
        self._spent = spent_usd(entries)
        self._lost = {r.key: r.spent_usd for r in entries if r.key not in done}
        left = deque(run for run in runs if run.key not in done or done[run.key].is_ungraded)
        threads = [
            threading.Thread(target=self._work, args=(left,), daemon=True) for _ in range(min(self._workers, len(left)))
        ]
        for thread in threads:
            thread.start()
        try:
            self._report(threads, len(runs), callback)
        except BaseException as error:  # the runs in progress must end, and those that did be journalled
            self._interrupted = isinstance(error, KeyboardInterrupt)
            if not self._interrupted:
                self._fault = error
            self._stop("interrupted")
            self._cancel()
            with contextlib.suppress(KeyboardInterrupt):  # who presses it twice does not want to wait
                self._report(threads, len(runs), None, until=time.monotonic() + ENDS_WITHIN)
        with self._record_lock:  # from here on, workers that were not waited for change nothing
            self._closed = True
        if self._fault is not None:
            raise self._fault
        known = self._waiting | done
        results = [known[run.key] for run in runs if run.key in known]
        if self._stop_reason:
            raise MatrixStopped(self._stop_reason, results, interrupted=self._interrupted)
        return results

    def _report(
        self, threads: list[threading.Thread], total: int, callback: Callback | None, until: float = float("inf")
    ) -> None:
        """Tell what the workers finish, until all of them have ended or the time is up."""
        while time.monotonic() < until:
            ended = not any(thread.is_alive() for thread in threads)
            try:
                item = self._finished.get(block=not ended, timeout=0.2)
            except queue.Empty:
                if ended:
                    return
                continue
            if item is not None and callback is not None:
                callback(item[0], item[1], total)

    def _record(self, run: PlannedRun, result: EvalResult, *, finished: bool = True) -> None:
        # By the worker: Ctrl-C strikes the main thread, and must not do so between the journal and the results.
        with self._record_lock:
            if self._closed:
                return
            self._journal.append(result)
            if finished:
                self._done[run.key] = result
                self._finished.put((result, len(self._done)))
            else:
                self._waiting[run.key] = result

    def _work(self, left: deque[PlannedRun]) -> None:
        try:
            while (run := self._next(left)) is not None:
                result = self._done.get(run.key) or self._tried(run)
                if result is not None and not self._interrupted:
                    self._finish(run, result)
        except StopMatrix as error:
            self._stop(str(error))
        except BaseException as error:  # must end the matrix, not one thread of it
            self._fault = error
            self._stop(str(error))
            self._cancel()
        finally:
            self._finished.put(None)

    def _next(self, left: deque[PlannedRun]) -> PlannedRun | None:
        while not self._stopping.is_set() and (hold := self._hold_until - time.monotonic()) > 0:
            self._stopping.wait(hold)
        with self._lock:
            if self._max_cost_usd is not None and self._spent >= self._max_cost_usd and left:
                self._stop(f"the budget of ${self._max_cost_usd:g} is used up (${self._spent:.2f} spent)")
            return left.popleft() if left and not self._stopping.is_set() else None

    def _tried(self, run: PlannedRun) -> EvalResult | None:
        """A run as its agent left it, on disk before it is graded; None when it was interrupted."""
        result = self._try(run)
        if result.trace.error_kind is ErrorKind.INTERRUPTED:
            return None
        if result.is_ungraded:
            self._record(run, result, finished=False)
        return result

    def _finish(self, run: PlannedRun, result: EvalResult) -> None:
        """Give a run the grades that it lacks."""
        graded = self._grade(run, result) if result.is_ungraded else result
        with self._lock:
            self._spent += graded.spent_usd - result.spent_usd
        if graded.refused_judge:
            self._stop(graded.refused_judge)
        self._record(run, graded)
        if graded.kept_project is None:
            self._release(result)

    def _try(self, run: PlannedRun) -> EvalResult:
        """One run with its retries."""
        attempt, wasted = 1, self._lost.get(run.key, 0.0)
        while True:
            result = self._run(run)
            with self._lock:
                self._spent += result.spent_usd
            result = result.model_copy(update={"attempts": attempt, "retry_cost_usd": wasted})
            trace = result.trace
            if trace.error_kind.stops_matrix:
                self._stop(f"{trace.error_kind}: {trace.error}")
            if not trace.may_be_retried or attempt >= self._retry.attempts or self._stopping.is_set():
                return result
            wait = trace.retry_after_seconds
            if wait is None:
                wait = self._retry.wait(attempt)
            elif wait > self._retry.longest_wait:
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

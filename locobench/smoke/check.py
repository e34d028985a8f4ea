"""Check that every task works: the oracle earns 1.0, doing nothing earns 0.0, and the image is sound."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

from locobench.smoke.containers import Engine, EngineError, last_lines
from locobench.smoke.task import SmokeTask, TaskError, read_task_folder
from locobench.smoke.trial import Agent, Attempt, run_in_container, run_locally

K = TypeVar("K")
V = TypeVar("V")
Watch = Callable[[Iterable[Any], int, str], Iterator[Any]]
"""Passes items through and may show progress: (items, their number, a label)."""
REPOSITORY_OF_IMAGES = "smoke-test"
EXPECTED_REWARD: dict[Agent, float] = {"oracle": 1.0, "nop": 0.0}

_VERSION = re.compile(r"\d+\.\d+")

# Work on a copy: make's output must not mix with its input. Toolchains put their caches in HOME.
_PROJECT_TESTS = "cp -r /app/project /tmp/project && cd /tmp/project && HOME=/tmp make test"


@dataclass(frozen=True)
class ImageCheck:
    """The findings about one image; tasks with the same environment share it."""

    tag: str = ""
    base: str = ""
    """The image it builds on."""
    build_seconds: float | None = None
    size: int | None = None
    """Bytes, including the base image; None if it is not built."""
    toolchain: str = ""
    """The first line with a version in the output of the language's check command."""
    project_tests: str = ""
    """`pass`, `fail`, or `none` if the project's Makefile has no `test` target."""
    faults: tuple[str, ...] = ()
    output: str = ""
    """The last lines of output of what failed."""


@dataclass(frozen=True)
class Row:
    """The result for one task. What was not measured is None or empty."""

    task: str
    language: str = ""
    image: ImageCheck = field(default_factory=ImageCheck)
    shares_image: bool = False
    """Whether an earlier row has the same image and so the same figures."""
    rewards: dict[Agent, float | None] = field(default_factory=dict)
    faults: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the task has no faults."""
        return not self.faults

    @property
    def verdict(self) -> str:
        """The task's faults in one line, or `ok`."""
        return "; ".join(self.faults) or "ok"


def check_image(
    engine: Engine,
    languages: Mapping[str, Mapping[str, Any]],
    task: SmokeTask,
    *,
    build_timeout: float,
    timeout: float,
) -> ImageCheck:
    """Build the image of `task`; record its size and toolchain, and whether the project's tests pass."""
    tag = f"{REPOSITORY_OF_IMAGES}:{task.digest[:16]}"
    memory_mb = task.toml.environment.memory_mb
    found: dict[str, Any] = {}
    faults: list[str] = []
    try:
        found["build_seconds"], found["size"] = engine.build(task.path / "environment", tag, timeout=build_timeout)
        command = languages.get(task.language, {}).get("check")
        if command is None:
            faults.append(f"toolchain: no table of languages has {task.language!r}")
        else:
            code, output = engine.run(tag, command, what=f"toolchain: `{command}`", timeout=timeout)
            found["toolchain"] = next(filter(_VERSION.search, output.splitlines()), "")
            if code != 0:
                faults.append(f"toolchain: `{command}` failed (exit code {code})")
                found["output"] = last_lines(output)
        found["project_tests"] = "fail" if task.has_project_tests else "none"
        if task.has_project_tests:
            what = "the project's tests"
            code, output = engine.run(tag, _PROJECT_TESTS, what=what, timeout=timeout, memory_mb=memory_mb)
            found |= {"project_tests": "pass"} if code == 0 else {"output": last_lines(output)}
    except EngineError as error:
        faults.append(str(error))
        found["output"] = error.tail
    return ImageCheck(tag=tag, base=task.base_image, faults=tuple(faults), **found)


def smoke(
    paths: list[Path],
    *,
    engine: Engine | None,
    jobs: int,
    languages: Mapping[str, Mapping[str, Any]],
    build_timeout: float,
    timeout: float,
    limit_per_language: int | None,
    watch: Watch,
) -> list[Row]:
    """Check the task directories `paths` and return a row for each, in order.

    Args:
        paths: Task directories, whole or broken.
        engine: Builds images and runs containers; None to run only oracle and nop, on this machine.
        jobs: Number of builds or trials at once.
        languages: The table of each language, with the command that checks its toolchain.
        build_timeout: Seconds for building one image.
        timeout: Seconds for one command: the answer, the verifier, the toolchain's check, the project's tests.
        limit_per_language: Check only this many whole tasks of each language, plus all broken ones.
        watch: Passes finished work through and may show progress.
    """
    read = _read_tasks(paths, limit_per_language)
    tasks = [task for task in read.values() if isinstance(task, SmokeTask)]
    first: dict[str, SmokeTask] = {}
    for task in tasks:
        first.setdefault(task.digest, task)
    images = dict.fromkeys(first, ImageCheck())

    def trial_of(key: tuple[SmokeTask, Agent]) -> Attempt:
        task, agent = key
        if engine is None:
            return run_locally(task, agent, timeout=timeout)
        return run_in_container(engine, images[task.digest].tag, task, agent, timeout=timeout)

    with ThreadPoolExecutor(jobs) as pool:
        try:
            if engine is not None:
                check = partial(check_image, engine, languages, build_timeout=build_timeout, timeout=timeout)
                found = _in_parallel(pool, check, list(first.values()), "Images", watch)
                images = {task.digest: image for task, image in found.items()}
            usable = [task for task in tasks if engine is None or images[task.digest].size is not None]
            trials = _in_parallel(pool, trial_of, list(product(usable, EXPECTED_REWARD)), "Trials", watch)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            if engine is not None:
                engine.kill_all()
            raise
    rows = []
    for path, found_there in read.items():
        if isinstance(found_there, TaskError):
            rows.append(Row(path.name, faults=(str(found_there),)))
            continue
        own = {agent: trials[found_there, agent] for agent in EXPECTED_REWARD if (found_there, agent) in trials}
        image, first_user = images[found_there.digest], first[found_there.digest]
        rows.append(_judge(found_there, image, own, shares_image=found_there is not first_user))
    return rows


def _read_tasks(paths: list[Path], limit_per_language: int | None) -> dict[Path, SmokeTask | TaskError]:
    """Return every task to check, or what is wrong with it."""
    found: dict[Path, SmokeTask | TaskError] = {}
    taken: Counter[str] = Counter()
    for path in paths:
        try:
            task = read_task_folder(path)
        except TaskError as error:
            found[path] = error
            continue
        taken[task.language] += 1
        if limit_per_language is None or taken[task.language] <= limit_per_language:
            found[path] = task
    return found


def _judge(task: SmokeTask, image: ImageCheck, trials: dict[Agent, Attempt], *, shares_image: bool) -> Row:
    faults = list(image.faults)
    if task.gives_itself_away:
        faults.append(f"environment/ holds the ground truth: {max(task.telltales, key=len).decode()[:60]!r}")
    for agent, trial in trials.items():
        if trial.fault:
            faults.append(trial.fault)
        elif task.toml.metadata.oracle_check and trial.reward != EXPECTED_REWARD[agent]:
            faults.append(f"{agent}: reward {trial.reward}, not {EXPECTED_REWARD[agent]}")
    rewards = {agent: trial.reward for agent, trial in trials.items()}
    if not faults and len(rewards) == len(EXPECTED_REWARD) and len(set(rewards.values())) == 1:
        faults.append(f"oracle and nop both earn {rewards['nop']}: the verifier does not tell an answer from none")
    return Row(task.path.name, task.language, image, shares_image, rewards, tuple(faults))


def _in_parallel(
    pool: ThreadPoolExecutor, function: Callable[[K], V], keys: list[K], label: str, watch: Watch
) -> dict[K, V]:
    futures = {pool.submit(function, key): key for key in keys}
    return {futures[future]: future.result() for future in watch(as_completed(futures), len(futures), label)}

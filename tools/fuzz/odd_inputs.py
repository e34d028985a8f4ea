"""Search for input that a command cannot stand: every file that one reads, changed at random.

Whatever is in a file, a command ends with one of its exit codes, prints no traceback, takes less than a minute, and
leaves what it was given as it was. `python -m tools.fuzz` searches on, `make trust` counts.
"""

from __future__ import annotations

import json
import random
import re
import shutil
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from harness.executor import ClaudeExecutor
from harness.models import EvalResult, ResultsFile
from locobench.dataset.catalog import LANGUAGE_TABLE
from tests.support.fake_claude import RECORDED
from tests.support.in_process import run_in_process
from tests.support.judged_job import make_job
from tests.support.results import arm, judge_failed, results_json
from tests.support.results import run as made_run
from tests.support.suite import REPOSITORY, environment, make_suite
from tools.bench.trust.faults import Fault
from tools.fuzz.mutate import mutate

CODES = (0, 1, 2)
LONGEST = 60
"""Seconds of one command."""

KEPT = REPOSITORY / ".cache" / "fuzz" / "odd"
"""Where files that broke something are kept, with how."""

Case = tuple[list[str], list[str]]
"""Files of which one is changed, and the command that reads them; the first word names a script or `harness`."""

SUITE = (
    "id: t0\ncategory: coding\ndescription: d\nprompt: p\nfixture_path: ../fixture\ntimeout_seconds: 30\n"
    "assertions:\n  - {type: code, check: tests_pass, command: 'true'}\n"
    "  - {type: llm, rubric: Is it good?, id: good}\n"
    "scoring: {tests_pass: 30, good: 20}\n"
)
CONFIG = (
    "name: c0\nmodel: claude-sonnet-5-5\nmax_turns: 3\nclaude_md: |\n  Read.\nallowed_tools: [Read, mcp__s]\n"
    "mcp_config: {mcpServers: {s: {command: cat, args: [a], env: {A: b}}}}\nenv: {A: b}\nmax_budget_usd: 2.0\n"
)


def tried(minutes: float, rng: random.Random, place: Path) -> list[Fault]:
    """Read changed files for so long, all kinds in turn; a row a kind."""
    base = place / "base"
    base.mkdir(parents=True)
    cases = _make(base)
    for _, command in (case for ways in cases.values() for case in ways):
        _see_that_it_works(base, place / "work", command)
    stream = Fault("odd lines in the stream of the claude CLI")
    faults = {kind: Fault(f"odd {kind}") for kind in cases}
    end = time.monotonic() + 60 * minutes
    while True:
        for kind, ways in cases.items():
            files, command = rng.choice(ways)
            faults[kind].count(_tried(base, place / "work", rng, files, command), " ".join(command)[:120])
        for _ in range(5):
            stream.count(_streamed(place / "stream", rng), "stream")
        if time.monotonic() >= end:
            break
    found = [*faults.values(), stream]
    for fault in found:
        print(f"{fault.name}: {fault.held} of {fault.tried}", flush=True)
    return found


def _make(base: Path) -> dict[str, list[Case]]:
    """One of each file that a command reads, in the folder `base`, and the commands by kind of file."""
    make_suite(base / "suite", tasks=1, configs=1)
    (base / "suite/tasks/t0.task.yaml").write_text(SUITE)
    (base / "suite/configs/c0/config.yaml").write_text(CONFIG)
    shown = ClaudeExecutor()._parse_output((RECORDED / "ok_stream.stdout").read_text())
    real = made_run("t0", "c0").model_copy(update={"trace": shown})
    for name, passes in (("a", 3), ("b", 0)):
        results = [*arm({"t0": passes, "t1": 2}, 3, config="c0"), real, judge_failed("t1", "c0", index=7)]
        (base / f"{name}.json").write_text(results_json(results))
        lines = "".join(result.model_dump_json() + "\n" for result in results)
        (base / f"{name}.journal.jsonl").write_text(lines)
    (base / "own.json").write_text(results_json(arm({"t0": 2}, 3, config="c0")))
    (base / "table.csv").write_text(
        "task,arm,reward\n" + "".join(f"t{n},{arm},{n / 9}\n" for n in range(9) for arm in "ab")
    )
    make_job(base, trials=3, tasks=2)
    trial = base / "jobs/with-search/task_00__x00"
    (trial / "agent").mkdir(exist_ok=True)
    (trial / "agent/trajectory.json").write_text(
        '{"steps": [{"step_id": 1, "source": "agent", "message": "m", "tool_calls": [{"tool_call_id": "1", '
        '"function_name": "Read", "arguments": {"path": "a"}}], "observation": {"results": '
        '[{"source_call_id": "1", "content": "c"}]}, "timestamp": "2026-11-21T10:02:00Z"}]}'
    )
    shutil.copytree(base / "jobs/with-search", base / "jobs/without")
    for result in (base / "jobs/without").glob("*/result.json"):
        # Else they are copies, and copies are refused.
        result.write_text(json.dumps({**json.loads(result.read_text()), "id": f"another {result.parent.name}"}))
    pipeline = _make_pipeline(base)
    job = [str(p.relative_to(base)) for p in sorted((base / "jobs/with-search").rglob("*")) if p.is_file()]
    tasks = [str(p.relative_to(base)) for p in sorted((base / "tasks").rglob("*")) if p.is_file()]
    saved, journal = ["a.json"], ["a.journal.jsonl"]
    task, config = ["suite/tasks/t0.task.yaml"], ["suite/configs/c0/config.yaml"]
    plan = ["harness", "matrix", "-t", task[0], "-c", config[0], "-o", "new.json", "--dry-run"]
    return {
        "results files": [
            (saved, ["harness", "compare", "a.json", "b.json", "--html", "out.html"]),
            (saved, ["harness", "report", "a.json"]),
            (saved, ["harness", "analyze", "a.json"]),
            (saved, ["harness", "analyze", "a.json", "-i", "6"]),
            (saved, ["harness", "compare", "b.json", "a.json", "--regression"]),
            (saved, ["harness", "power", "--from", "a.json"]),
            (["table.csv"], ["harness", "compare", "table.csv"]),
        ],
        "journals": [
            (journal, ["harness", "report", "a.journal.jsonl"]),
            (journal, ["harness", "compare", "a.journal.jsonl", "b.json"]),
            (journal, ["harness", *plan[1:6], "-o", "a.json", "--resume", "--dry-run"]),
        ],
        "task and config files": [
            (task, ["harness", "validate", "--static", "-t", task[0]]),
            (task, plan),
            (config, ["harness", "validate", "-c", config[0]]),
            (config, plan),
        ],
        "Harbor job folders": [
            (job, ["harness", "compare", "jobs/with-search", "jobs/without", "--html", "out.html"]),
            (job, ["harness", "report", "jobs/with-search"]),
            (job, ["harness", "report", "jobs/with-search", "--json", "out.json"]),
            (job, ["harness", "grade", "jobs/with-search", "-o", "out.json", "--dry-run"]),
            (tasks, ["harness", "grade", "jobs/with-search", "-o", "out.json", "--tasks", "tasks", "--dry-run"]),
            (tasks, ["harness", "compare", "jobs/with-search", "jobs/without"]),
        ],
        "files of the scripts": pipeline,
    }


def _make_pipeline(base: Path) -> list[Case]:
    """A data folder with three scenarios of one project, and what the scripts make of it."""
    sample = REPOSITORY / "data" / "sample"
    scenarios = sorted((sample / "output/scenarios").glob("*.json"))[:3]
    (base / "data/output/scenarios").mkdir(parents=True)
    for path in scenarios:
        shutil.copy(path, base / "data/output/scenarios")
    project = next(p for p in (sample / "generated").iterdir() if scenarios[0].name.startswith(p.name))
    shutil.copytree(project, base / "data/generated" / project.name)
    shutil.copy(LANGUAGE_TABLE, base / "languages.toml")
    extract = ["extract_dataset.py", "--data_dir", "data", "--output", "dataset.jsonl", "--quiet"]
    select = ["select_tasks.py", "--dataset_path", "dataset.jsonl", "--min_context_length", "0"]
    select += ["--min_files_count", "0", "--output", "selected.json", "--quiet"]
    generate = ["run_adapter.py", "--data_dir", "data", "--dataset_path", "dataset.jsonl", "--quiet"]
    for command in (extract, select):
        _call(command, base)
    scenario = [f"data/output/scenarios/{path.name}" for path in scenarios]
    return [
        (scenario, [*extract[:4], "new.jsonl", "--quiet"]),
        (["dataset.jsonl"], [*select[:-2], "new.json", "--quiet"]),
        (["dataset.jsonl"], [*generate, "--output_dir", "new"]),
        (["languages.toml"], [*generate, "--output_dir", "new", "--languages", "languages.toml"]),
        (["selected.json"], [*generate, "--output_dir", "new", "--selected_tasks", "selected.json"]),
    ]


def _see_that_it_works(base: Path, work: Path, command: list[str]) -> None:
    """A command that is refused whatever it reads would hold against every file."""
    shutil.copytree(base, work, symlinks=True)
    code, said = _call(command, work)
    shutil.rmtree(work)
    if code == 2 and re.search(r"^(?:Usage|error): ", said, re.MULTILINE):
        raise SystemExit(f"{' '.join(command)}: refused without any fault: {said[-300:]}")


def _tried(base: Path, work: Path, rng: random.Random, files: list[str], command: list[str]) -> list[str]:
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(base, work, symlinks=True)
    chosen = work / rng.choice(files)
    mutate(chosen, rng)
    before = _contents(work)
    try:
        code, said = _call(command, work)
        wrong = [] if code in CODES else [f"ended with {code}"]
        wrong += ["printed a traceback"] if "Traceback" in said else []
        wrong += ["said nothing"] if code == 2 and not said.strip() else []
    except Exception:
        wrong = [traceback.format_exc(limit=-3)[-900:]]
    after = _contents(work)
    wrong += [f"{path} was changed" for path, content in before.items() if after.get(path) != content]
    return [*wrong, _keep(chosen)] if wrong else []


def _streamed(place: Path, rng: random.Random) -> list[str]:
    """What the harness makes of a stream can be saved and is the same when it is read."""
    place.mkdir(exist_ok=True)
    stream = place / "stream.jsonl"
    shutil.copy(rng.choice(sorted(RECORDED.glob("*.stdout"))), stream)
    mutate(stream, rng)
    try:
        with _limit():
            trace = ClaudeExecutor()._parse_output(stream.read_bytes().decode("utf-8", "replace"), rng.choice((0, 1)))
            result: EvalResult = made_run().model_copy(update={"trace": trace})
            text = results_json([result])
            text.encode()
            again = ResultsFile.model_validate_json(text).results[0].trace
        return [] if again == trace else ["another trace when it is read again", _keep(stream)]
    except Exception:
        return [traceback.format_exc(limit=-3)[-900:], _keep(stream)]


def _call(command: list[str], folder: Path) -> tuple[int, str]:
    target: Path | str = "harness" if command[0] == "harness" else REPOSITORY / command[0]
    with _limit():
        variables = environment(ANTHROPIC_API_KEY="none", EVAL_ENV_FILE="")
        done = run_in_process(target, command[1:], cwd=folder, env=variables)
    return done.returncode, done.stdout + done.stderr


@contextmanager
def _limit() -> Iterator[None]:
    def stop(_number: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"took more than {LONGEST} s")

    before: Callable[[int, FrameType | None], object] | int | None = signal.signal(signal.SIGALRM, stop)
    signal.alarm(LONGEST)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _keep(path: Path) -> str:
    """Keep a file that broke something."""
    KEPT.mkdir(parents=True, exist_ok=True)
    kept = KEPT / f"{time.time_ns()}-{path.name}"
    shutil.copy(path, kept)
    return f"kept as {kept}"

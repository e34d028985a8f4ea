"""The commands that are killed: what each needs on disk, how it goes on, and what it has paid and kept."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from harness.models import EvalResult
from measure.results.files import load_results_file
from measure.results.journal import read_journal
from tests.support.fake_claude import FakeClaude, calls
from tests.support.judged_job import make_job, reply
from tests.support.stand_in.messages_api import MessagesAPI, Reply, Request, Text, ToolUse
from tests.support.suite import REPOSITORY, environment, make_suite

CLAUDE = REPOSITORY / ".cache/e2e/claude"

HIDE = (
    "env -i setsid sleep 600 </dev/null >/dev/null 2>&1 & "
    "( ( setsid nohup sleep 600 </dev/null >/dev/null 2>&1 & ) & ); "
    "bash -c 'trap \"\" TERM INT HUP; sleep 600' </dev/null >/dev/null 2>&1 & "
)
"""Children without the environment, the session, the group or the parent of their agent, and one deaf to signals."""

TRIALS = 6


class Scene:
    """A command with its files in a folder of its own."""

    arguments: tuple[str, ...]
    resume: tuple[str, ...] = ("--resume",)
    """Added to go on after a kill."""
    made = frozenset({"out.json", "out.journal.jsonl"})
    """What stays when all is done."""
    expected: ClassVar[Counter[str]]
    """How many runs of each there are."""

    def __init__(self, root: Path, claude: Path | None, out: str = "out.json") -> None:
        """`claude`: the real CLI, or None for one that plays a recorded run; `out`: below `root`."""
        self.root = root
        self.out = root / out
        self.journal = self.out.with_suffix(".journal.jsonl")
        self.api = MessagesAPI(self._respond)
        self.temp = root / "tmp"
        self._make(claude)
        self.temp.mkdir()

    def _make(self, claude: Path | None) -> None:
        raise NotImplementedError

    def _respond(self, request: Request) -> Reply:
        raise NotImplementedError

    def rows(self) -> list[str]:
        """What the command has paid for and keeps, one word a run."""
        raise NotImplementedError

    def calls(self) -> Counter[str]:
        """How often each run was paid for."""
        raise NotImplementedError

    def announced(self, said: str) -> int:
        """How many finished runs the command has told of."""
        return len(re.findall(r"^\[\d+/\d+\] ", said, re.MULTILINE))

    def wrong_at_the_end(self) -> list[str]:
        """What the finished output lacks."""
        raise NotImplementedError

    def command(self, *, again: bool = False) -> list[str]:
        """The command, or the one that goes on with it."""
        return [sys.executable, "-m", "harness", *self.arguments, "-o", str(self.out), *(self.resume if again else ())]

    def environment(self) -> dict[str, str]:
        """Its variables; all temporary files go below the scene's folder."""
        service = {"ANTHROPIC_BASE_URL": self.api.url, "ANTHROPIC_API_KEY": "sk-ant-stand-in", "IS_SANDBOX": "1"}
        return environment(TMPDIR=str(self.temp), **service)


class AgentScene(Scene):
    """A command that runs agents."""

    def _make(self, claude: Path | None) -> None:
        fake = FakeClaude(writes={"answer.txt": "right\n"}, delay=0.4, own_session=True, child=["bash", "-c", HIDE])
        make_suite(self.root, fake=fake)
        self._real = claude is not None
        self.arguments = (*self.arguments, "--claude", str(claude or self.root / "bin/claude"))
        for number in range(2):
            header = f"env: {{CONFIG_NAME: c{number}, ANTHROPIC_CUSTOM_HEADERS: 'x-config: c{number}'}}"
            (self.root / f"configs/c{number}/config.yaml").write_text(f"name: c{number}\n{header}\n")

    def _respond(self, request: Request) -> Reply:
        if not request.is_main:
            return Text("Title")
        time.sleep(0.1)
        if request.turn:
            return Text("Done.")
        return ToolUse("Bash", {"command": f"{HIDE} echo right > answer.txt", "description": "d"})

    def calls(self) -> Counter[str]:
        if self._real:
            opened = [request for request in self.api.main_requests if request.turn == 0]
            return Counter(f"{_task(request.text)} {request.headers.get('x-config')}" for request in opened)
        logged = calls(self.root / "bin/claude")
        return Counter(f"{_task(call['prompt'])} {call['env']['CONFIG_NAME']}" for call in logged)

    def rows(self) -> list[str]:
        return [_run(result) for result in read_journal(self.journal)]

    def wrong_at_the_end(self) -> list[str]:
        file = load_results_file(self.out)
        found = Counter(map(_run, file.results))
        wrong = [] if file.complete else ["the results are not complete"]
        if found != self.expected or Counter(self.rows()) != self.expected:
            wrong.append(f"results of {dict(found)}, rows of {dict(Counter(self.rows()))}")
        wrong += [f"{_run(r)}: {r.outcome} {r.trace.error}" for r in file.results if not r.passed]
        return wrong


class Run(AgentScene):
    """`run`: a matrix of one run."""

    arguments = ("run", "-t", "tasks/t0.task.yaml", "-c", "configs/c0/config.yaml")
    expected: ClassVar[Counter[str]] = Counter({"t0 c0": 1})


class Matrix(AgentScene):
    """`matrix`: four runs, two at a time."""

    arguments = ("matrix", "-t", "tasks/*.yaml", "-c", "configs/*/config.yaml", "-r", "1", "-j", "2")
    expected: ClassVar[Counter[str]] = Counter({"t0 c0": 1, "t0 c1": 1, "t1 c0": 1, "t1 c1": 1})


class Grade(Scene):
    """`grade`: six verdicts, each on disk before the next one is asked for."""

    arguments = ("grade", "jobs/with-search")
    resume = ()
    expected: ClassVar[Counter[str]] = Counter({f"task_{number:02}": 1 for number in range(TRIALS)})

    def _make(self, claude: Path | None) -> None:
        self.root.mkdir(parents=True)
        make_job(self.root, trials=TRIALS, tasks=TRIALS)

    def _respond(self, request: Request) -> Reply:
        time.sleep(0.15)
        return reply()

    def calls(self) -> Counter[str]:
        return Counter(_trial(request.text) for request in self.api.requests if request.path == "/v1/messages")

    def rows(self) -> list[str]:
        lines = self.journal.read_bytes().split(b"\n")[:-1] if self.journal.exists() else []
        return [json.loads(line)["task"] for line in lines]

    def wrong_at_the_end(self) -> list[str]:
        file = load_results_file(self.out)
        graded = [result for result in file.results if result.measured and result.overall_score == 0.8]
        return [] if file.complete and len(graded) == TRIALS else [f"{len(graded)} of {TRIALS} graded"]


SCENES: tuple[Callable[[Path, Path | None], Scene], ...] = (Run, Matrix, Grade)


def installed_claude() -> Path | None:
    """The real CLI, where tests/e2e/claude.sh has installed it or HARNESS_E2E_CLAUDE names it."""
    path = Path(os.environ.get("HARNESS_E2E_CLAUDE", CLAUDE))
    return path if path.exists() else None


def _run(result: EvalResult) -> str:
    return f"{result.task_id} {result.config_name}"


def _task(text: str) -> str:
    found = re.search(r"Task (t\d)", text)
    return found[1] if found else "?"


def _trial(text: str) -> str:
    found = re.search(r"\((task_\d\d)\)", text)
    return found[1] if found else "?"

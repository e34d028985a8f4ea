"""Nothing that an agent or a foreign file says steers the terminal of who reads it."""

from __future__ import annotations

import json
import os
import re
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.cli import cli
from harness.models import CriterionScore, FileChange, GradeResult, Outcome, ToolCall
from locobench.shared.terminal import printable, printable_line
from tests.conftest import shown_on_a_terminal
from tests.support.fake_claude import FakeClaude
from tests.support.results import results_json, run
from tests.support.suite import REPOSITORY, environment, make_suite

STEERING = {
    "clears the screen": "\x1b[2J\x1b[H",
    "hides what follows": "\x1b[8m",
    "sets the title": "\x1b]0;all passed\x07",
    "makes a link": "\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\",
    "sets the clipboard": "\x1b]52;c;cm0gLXJmIH4=\x07",
    "C1 control": "\x9b2J\x9d0;t\x9c",
    "overwrites the line": "FAIL\rPASS",
    "steps back": "fail\b\b\b\bpass",
    "turns the direction": "\u202etxet\u2066x",
    "ends the line elsewhere": "a\u2028b\x85c\x0bd\x0ce",
    "DEL": "\x7f",
}
HOSTILE = "".join(STEERING.values())
COLOUR = re.compile(r"\x1b\[(?:[01234]|[39][0-79])(?:;[39]?[0-79])*m")
"""What rich writes for the styles of our own reports."""


def test_what_steers_a_terminal_is_shown_escaped() -> None:
    assert printable("\x1b[31mred\x9b0m \u202e") == "\\x1b[31mred\\x9b0m \\u202e"


def test_text_of_all_scripts_its_lines_and_its_tabs_stay() -> None:
    text = "größe\t値\u3000\u00a0日本語 🏴 \u06a9\u200c\u0647 👩\u200d💻\nsecond line\n"
    assert printable(text) == text


def test_a_line_end_of_windows_is_a_line_end() -> None:
    assert printable("one\r\ntwo\r\n") == "one\ntwo\n"


def test_a_message_of_one_line_stays_one() -> None:
    assert printable_line("t1\nok: t2\r\n") == "t1\\nok: t2\\r\\n"


def test_half_a_character_can_be_written_to_any_output() -> None:
    assert printable("\udc80").encode() == b"\\udc80"


def hostile(what: str) -> str:
    return f"{what}{HOSTILE}"


def results(folder: Path, name: str, *, passed: bool) -> Path:
    """Saved runs in which every word that is not ours is hostile."""
    runs = [
        run(
            hostile(f"t{number}"),
            hostile("config"),
            passed=passed,
            index=index,
            model=hostile("model"),
            language=hostile("language"),
            groups={hostile("dimension"): hostile("value")},
            outcome=Outcome.COMPLETED if index else Outcome.INFRA_ERROR,
            trace={
                "result": hostile("result"),
                "claude_prompt": hostile("prompt"),
                "claude_response": hostile("response"),
                "stderr": hostile("stderr"),
                "error": hostile("error"),
                "outcome": Outcome.COMPLETED if index else Outcome.INFRA_ERROR,
                "tool_calls": [ToolCall(name=hostile("Tool"), input={"a": HOSTILE}, output=HOSTILE)] * (1 + passed),
                "file_changes": [FileChange(path=hostile("path"), action="created", content_after=HOSTILE)],
            },
            grades=[
                GradeResult(
                    assertion_id=hostile("llm_0"),
                    assertion_type="llm",
                    passed=passed,
                    score=float(passed),
                    details=HOSTILE,
                    reasoning=HOSTILE,
                    full_output=HOSTILE,
                    grading_prompt=HOSTILE,
                    criteria_scores=[CriterionScore(criterion=HOSTILE, score=1, reasoning=HOSTILE, evidence=HOSTILE)],
                )
            ],
        )
        for number in range(6)
        for index in range(3)
    ]
    path = folder / name
    path.write_text(results_json(runs), encoding="utf-8")
    return path


def table(folder: Path, name: str) -> Path:
    lines = [f"t{n}{HOSTILE},{arm},0.{n + 3 * (arm == 'b')},{HOSTILE}" for n in range(6) for arm in "ab"]
    path = folder / name
    path.write_text("\n".join([f"task,arm,reward,{HOSTILE}", *lines]).replace("\u2028", ""), encoding="utf-8")
    return path


COMMANDS: dict[str, Callable[[Path], list[object]]] = {
    "report": lambda f: ["report", f / "a.json"],
    "analyze": lambda f: ["analyze", f / "a.json"],
    "explain": lambda f: ["analyze", f / "a.json", "-i", "1"],
    "explain a lost run": lambda f: ["analyze", f / "a.json", "-i", "0"],
    "compare": lambda f: ["compare", f / "a.json", f / "b.json", "--all-tasks", "--treatment", "*"],
    "compare a file whose name is hostile": lambda f: ["compare", f / "a.json", f / f"{HOSTILE.replace('/', '')}.json"],
    "compare three": lambda f: ["compare", f / "a.json", f / "b.json", f / "a.json", "--all-tasks"],
    "compare a table": lambda f: ["compare", f / "table.csv", "--all-tasks"],
    "regression": lambda f: ["compare", f / "b.json", f / "a.json", "--regression"],
    "power": lambda f: ["power", "--from", f / "a.json"],
    "validate --static": lambda f: ["validate", "--static", "-t", f / "task.yaml"],
    "validate": lambda f: ["validate", "-t", f / "task.yaml"],
    "validate -c": lambda f: ["validate", "-c", f / "config.yaml"],
    "a key that is wrong": lambda f: ["validate", "-t", f / "wrong.yaml"],
    "a value that is wrong": lambda f: ["validate", "-c", f / "wrong-value.yaml"],
    "no results file": lambda f: ["report", f / "wrong.json"],
    "no table": lambda f: ["compare", f / "wrong.csv"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    quoted = json.dumps(HOSTILE)
    worse = results(folder, "a.json", passed=False)
    results(folder, "b.json", passed=True)
    (folder / f"{HOSTILE.replace('/', '')}.json").write_bytes(worse.read_bytes())
    table(folder, "table.csv")
    task = f"id: t\ncategory: coding\nprompt: p\ndescription: {quoted}\n"
    check = f"assertions:\n  - {{type: code, check: file_exists, file: {quoted}}}\n"
    (folder / "task.yaml").write_text(task + check)
    (folder / "wrong.yaml").write_text(f"{task}{quoted}: 1\n")
    (folder / "config.yaml").write_text(f"name: {quoted}\ndescription: {quoted}\n")
    (folder / "wrong-value.yaml").write_text(f"name: c\nskills_path: {quoted}\n")
    (folder / "wrong.json").write_text(json.dumps({HOSTILE: HOSTILE, "results": [{HOSTILE: HOSTILE}]}))
    (folder / "wrong.csv").write_text(f"task,arm,reward\nt{HOSTILE},a,{HOSTILE}\n")
    return folder


def steering(shown: str) -> set[str]:
    """Characters that are neither text nor a line end or tab of our own."""
    kinds = {c: unicodedata.category(c) for c in set(COLOUR.sub("", shown))}
    return {c for c, kind in kinds.items() if kind in ("Cc", "Cf", "Zl", "Zp") and c not in "\n\t"}


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_passes_it_on_to_a_pipe(command: str, folder: Path) -> None:
    arguments = [str(argument) for argument in COMMANDS[command](folder)]
    shown = CliRunner().invoke(cli, arguments)
    assert shown.exception is None or isinstance(shown.exception, SystemExit)
    assert shown.output
    assert not steering(shown.stdout_bytes.decode() + shown.stderr_bytes.decode())


@pytest.mark.slow
def test_no_command_passes_it_on_to_a_terminal(folder: Path) -> None:
    calls = [[str(argument) for argument in command(folder)] for command in COMMANDS.values()]
    (folder / "calls.json").write_text(json.dumps(calls))
    code = "import json, sys\nfrom harness.cli import cli\nfor arguments in json.load(open(sys.argv[1])):\n"
    code += "    try: cli(arguments)\n    except SystemExit: print('ended')"
    variables = {**environment(), "TERM": "xterm-256color", "COLUMNS": "120"}
    command = [sys.executable, "-c", code, str(folder / "calls.json")]
    shown = shown_on_a_terminal(command, env=variables).decode().replace("\r\n", "\n")
    assert shown.count("ended\n") == len(calls)
    assert not steering(shown)


@pytest.mark.parametrize("arguments", [("run",), ("matrix", "-r", "1")])
def test_runs_do_not_show_it_either(arguments: tuple[str, ...], tmp_path: Path) -> None:
    recorded = (REPOSITORY / "tests/fixtures/claude_cli/ok_stream.stdout").read_text()
    said = recorded.replace("The work is finished", json.dumps(HOSTILE)[1:-1])
    assert said != recorded
    (tmp_path / "said").write_text(said)
    fake = FakeClaude(str(tmp_path / "said"), writes={f"name{HOSTILE.replace('/', '')}": HOSTILE}, stderr=HOSTILE)
    root = make_suite(tmp_path / "s", tasks=1, configs=1, fake=fake)
    files = ["-t", str(root / "tasks/t0.task.yaml"), "-c", str(root / "configs/c0/config.yaml")]
    options = ["--claude", str(root / "bin/claude"), "-o", str(root / "out.json")]
    shown = CliRunner().invoke(cli, [*arguments, *files, *options], env={**os.environ})
    assert "saved to" in shown.output
    assert not steering(shown.stdout_bytes.decode() + shown.stderr_bytes.decode())

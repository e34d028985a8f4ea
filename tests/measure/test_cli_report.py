"""The reporting commands as a user calls them: output, files, exit codes and one-line errors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli import COMMANDS, cli
from harness.models import EvalResult
from tests.measure.test_harbor import write_trial
from tests.support.results import arm, judge_failed, results_json, run
from tests.support.suite import REPOSITORY, environment

TASKS = [f"t{i:02}" for i in range(20)]


def same(count: int) -> dict[str, int]:
    return dict.fromkeys(TASKS, count)


def call(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments], env={"COLUMNS": "200"})


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """Results files: steady, worse, and one with two configs."""
    both = arm(same(5), 5, config="base") + arm(same(2), 5, config="full")
    for name, results in (("steady", arm(same(5), 5)), ("worse", arm(same(2), 5)), ("both", both)):
        save(tmp_path / f"{name}.json", results)
    return tmp_path


def save(path: Path, results: Sequence[EvalResult]) -> Path:
    path.write_text(results_json(list(results)), encoding="utf-8")
    return path


def one_line(result: Result) -> str:
    """The message of a failed command, which must be one line on stderr and no traceback."""
    assert result.exit_code == 2
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1
    return lines[0]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str) -> None:
    result = call(name, "--help")
    assert result.exit_code == 0
    assert "Usage:" in result.output


def test_report_prints_and_writes_a_results_file(saved: Path) -> None:
    out = saved / "out"
    result = call("report", saved / "both.json", "--json", out / "r.json")
    assert result.exit_code == 0
    assert "100/100" in result.output
    assert json.loads((out / "r.json").read_text())["summary"]["total_runs"] == 200


def test_analyze_and_explain_lead_from_the_list_to_one_run(saved: Path) -> None:
    listed = call("analyze", saved / "worse.json", "-t", "t03", "-f")
    assert "3 of 100 runs" in listed.output
    index = listed.output.split("t03")[0].split()[-1]
    assert "prompt of t03" in call("analyze", saved / "worse.json", "-i", index).output


def test_explain_of_a_run_that_is_not_there_says_which_are(saved: Path) -> None:
    assert "from 0 to 99" in one_line(call("analyze", saved / "worse.json", "-i", 100))


@pytest.mark.parametrize(
    ("baseline", "current", "code"), [("steady", "steady", 0), ("steady", "worse", 1), ("worse", "steady", 0)]
)
def test_regression_tells_by_its_exit_code(saved: Path, baseline: str, current: str, code: int) -> None:
    result = call("compare", saved / f"{baseline}.json", saved / f"{current}.json", "--regression")
    assert result.exit_code == code


def test_regression_that_can_not_be_told_is_exit_code_2(tmp_path: Path) -> None:
    few = save(tmp_path / "few.json", arm({"a": 1, "b": 1}, 1))
    assert call("compare", few, few, "--regression").exit_code == 2


@pytest.mark.parametrize(
    ("a", "b", "code"),
    [
        pytest.param(arm(same(5), 5), arm(same(5), 5), 0, id="no evidence"),
        pytest.param(arm(same(2), 5), arm(same(5), 5), 0, id="better"),
        pytest.param(arm(same(5), 5), arm(same(2), 5), 1, id="worse"),
        pytest.param(arm(same(2) | {"t00": 10}, 10), arm(same(8) | {"t00": 0}, 10), 1, id="better but for one task"),
        pytest.param(arm({"a": 1, "b": 1}, 1), arm({"a": 1, "b": 1}, 1), 2, id="not enough data"),
    ],
)
def test_compare_tells_by_its_exit_code(tmp_path: Path, a: list[EvalResult], b: list[EvalResult], code: int) -> None:
    result = call("compare", save(tmp_path / "a.json", a), save(tmp_path / "b.json", b))
    assert result.exit_code == code


def test_regression_writes_its_evidence(saved: Path) -> None:
    path = saved / "evidence.json"
    call("compare", saved / "steady.json", saved / "worse.json", "--regression", "--json", path)
    told = json.loads(path.read_text())
    assert (told["verdict"], told["metric"], told["threshold"]) == ("regression", "pass_rate", 0.05)
    assert told["decision"]["these_tasks"]["less"] < 0.001


def test_compare_writes_every_format(saved: Path) -> None:
    out = saved / "out"
    result = call(
        "compare", saved / "steady.json", saved / "worse.json", "--html", out / "c.html",
        "--markdown", out / "c.md", "--json", out / "c.json",
    )  # fmt: skip
    assert result.exit_code == 1
    assert "worse is worse than steady" in (out / "c.html").read_text()
    assert "🔴 worse against steady\n\n**worse is worse than steady" in (out / "c.md").read_text()
    data = json.loads((out / "c.json").read_text())
    assert data["verdict"] == "regression"
    assert "steps_less" not in json.dumps(data)


def test_compare_takes_two_configs_of_one_file(saved: Path) -> None:
    result = call("compare", saved / "both.json", "--config-a", "base", "--config-b", "full")
    assert "full is worse than base" in result.output


def test_compare_of_one_file_with_itself_asks_for_configs(saved: Path) -> None:
    assert "--config-a" in one_line(call("compare", saved / "both.json"))


def test_arms_that_share_no_model_are_told_how_to_choose(saved: Path) -> None:
    two = save(saved / "two.json", arm(same(5), 5, model="x") + arm(same(5), 5, model="y"))
    other = save(saved / "other.json", arm(same(5), 5, model="z"))
    assert "choose one for each with --model-a and --model-b" in one_line(call("compare", two, other))


def test_compare_of_an_unknown_config_names_those_there_are(saved: Path) -> None:
    message = one_line(call("compare", saved / "both.json", "--config-a", "base", "--config-b", "fulll"))
    assert "full | m" in message


@pytest.mark.parametrize("content", ["", "{", '{"results": []}', '{"results": [{"task_id": 1}]}', "[1]"])
def test_a_file_that_holds_no_results_is_one_line(tmp_path: Path, content: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(content)
    assert str(path) in one_line(call("report", path))


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    assert "no.json" in one_line(call("report", tmp_path / "no.json"))


def test_the_journal_of_a_matrix_can_be_reported(tmp_path: Path) -> None:
    path = tmp_path / "m.journal.jsonl"
    path.write_text("".join(result.model_dump_json() + "\n" for result in arm({"a": 1}, 2)))
    assert "1/2" in call("report", path).output


def test_harbor_jobs_are_compared_by_their_reward(tmp_path: Path) -> None:
    for job, reward, servers in (("plain", 0.3, []), ("search", 0.6, [{"name": "search"}])):
        agent = {"name": "claude-code", "model_name": "m", "mcp_servers": servers}
        for task in range(8):
            for trial in range(3):
                write_trial(
                    tmp_path,
                    job=job,
                    name=f"task-{task}__{job}{trial}",
                    task=f"task-{task}",
                    reward=reward + task / 50,
                    agent=agent,
                    started=f"2026-11-21T10:0{trial}:00Z",
                )
    result = call("compare", tmp_path / "plain", tmp_path / "search", "--metric", "score")
    assert "search is better than plain" in result.output
    assert "+30.0 points" in result.output
    assert "Whether search used the tool mcp__search__* is not recorded" in result.output


def test_power_says_how_many_tasks_an_effect_takes() -> None:
    result = call("power", "--effect", 0.2)
    (of_5_runs, *_) = [line.split() for line in result.output.splitlines() if line.strip().startswith("5 ")]
    assert of_5_runs == ["5", "51", "%", "85", "%", "100", "%", "100", "%", "100", "%", "18"]


def test_power_says_how_often_no_difference_can_be_shown() -> None:
    text = call("power", "--baseline", 0.97, "--effect", 0.05).output
    rows = [line.split() for line in text.partition("as good within 5 points")[2].splitlines()]
    (three,) = [row for row in rows if row[:1] == ["3"]]
    assert three == ["3", "0", "%", "0", "%", "51", "%", "95", "%", "100", "%"]


def test_power_of_several_arms_is_that_of_a_corrected_level() -> None:
    def rises(*more: object) -> list[str]:
        text = call("power", *more).output
        return next(line for line in text.splitlines() if line.strip().startswith("3 ")).split()[1::2]

    assert [int(share) for share in rises()[:3]] > [int(share) for share in rises("--arms", 4)[:3]]
    assert "between two of 4 arms" in call("power", "--arms", 4).output


def test_power_takes_the_pass_rate_of_earlier_results(saved: Path) -> None:
    assert "from a pass rate of 40 %" in call("power", "--effect", 0.2, "--from", saved / "worse.json").output


def test_power_of_passes_tells_a_drop_from_a_rise(saved: Path) -> None:
    text = call("power", "--effect", 0.1, "--baseline", 0.8).output
    assert "drop of 10 points" in text
    assert "rise of 10 points" in text


def test_power_of_an_impossible_change_is_refused() -> None:
    assert "leaves room for a drop of 10.0 points" in call("power", "--baseline", 0.1, "--effect", 0.2).output
    assert "cannot drop or rise" in one_line(call("power", "--baseline", 0.5, "--effect", 0.6))


def scored(runs: int) -> list[EvalResult]:
    """Twenty tasks of very different scores whose runs lie 0.1 around them."""
    shift = (-0.1, 0.1)
    return [
        run(f"t{task}", passed=False, score=0.2 + task / 40 + shift[index % 2], index=index)
        for task in range(20)
        for index in range(runs)
    ]


def test_power_from_scores_takes_the_noise_of_the_runs_and_not_the_spread_of_the_tasks(tmp_path: Path) -> None:
    source = save(tmp_path / "a.json", scored(2))
    text = call("power", "--from", source, "--effect", 0.05).output
    assert "drop or rise of 5 points" in text
    assert "Chance to show a change from a score of 44 %, runs of a task varying by 14.1 points" in text


def test_power_from_one_run_a_task_is_refused(tmp_path: Path) -> None:
    source = save(tmp_path / "a.json", scored(1))
    assert "one run of each task" in one_line(call("power", "--from", source))


def test_a_configuration_travels_through_export_and_import(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "CLAUDE.md").write_text("# Mine\n")
    (tmp_path / ".claude" / "settings.json").write_text('{"env": {"API_KEY": "abcdefghij"}}')
    snapshot, home = tmp_path / "s.json", tmp_path / "ci home"
    exported = call("export-config", "-o", snapshot, "--claude-home", tmp_path / ".claude")
    assert "settings.env.API_KEY" in exported.stderr
    imported = call("import-config", "-s", snapshot, "-o", home)
    assert f"export CLAUDE_CONFIG_DIR='{home}/.claude'" in imported.stdout
    assert (home / ".claude" / "CLAUDE.md").read_text() == "# Mine\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("report", "steady.json", "--json", "steady.json/x"),
        ("compare", "steady.json", "steady.json", "--markdown", "steady.json/x"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_place_that_cannot_be_written_is_one_line(
    saved: Path, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_trial(saved / "jobs")
    monkeypatch.chdir(saved)
    assert "steady.json/x: cannot be written" in one_line(call(*arguments))


@pytest.mark.slow
def test_a_reader_who_has_enough_of_the_help_is_no_verdict(tmp_path: Path) -> None:
    """As with `| head`: the pipe is closed before all is written."""
    ours, theirs = os.pipe()
    os.close(ours)
    command = [sys.executable, "-m", "harness", "--help"]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(command, cwd=tmp_path, stdout=theirs, stderr=subprocess.PIPE, env=environment, timeout=60)
    os.close(theirs)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "option"),
    [(("report", "steady.json"), "--json"), (("compare", "steady.json", "worse.json"), "--html")],
    ids=["report", "compare"],
)
def test_a_page_is_written_although_the_reader_of_the_pipe_has_gone(
    saved: Path, arguments: tuple[str, ...], option: str
) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    command = [sys.executable, "-m", "harness", *arguments, option, "page"]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(command, cwd=saved, stdout=theirs, stderr=subprocess.PIPE, env=environment, timeout=60)
    os.close(theirs)
    assert (done.returncode, (saved / "page").is_file()) == (141, True), done.stderr


LONG = "python_data_pipeline_expert_042_architectural_understanding_expert_01"


@pytest.mark.parametrize("columns", ["80", None])
@pytest.mark.parametrize("command", ["report", "compare", "analyze", "one run"])
def test_no_word_is_cut_where_output_is_no_terminal(tmp_path: Path, command: str, columns: str | None) -> None:
    config, model = "with-code-search-and-a-long-name", "claude-sonnet-4-5-20250929-with-a-suffix"
    path = "/app/project/" + "/".join(f"folder{number}" for number in range(30))
    made = [
        arm({LONG: passes, f"{LONG}_b": 1}, 8, config=config, model=model, trace={"error": path, "result": path})
        for passes in (8, 0)
    ]
    a, b = save(tmp_path / "a.json", made[0]), save(tmp_path / "b.json", made[1])
    arguments: dict[str, list[object]] = {
        "report": ["report", a],
        "compare": ["compare", a, b, "--all-tasks"],
        "analyze": ["analyze", a],
        "one run": ["analyze", a, "-i", 0],
    }
    text = CliRunner().invoke(cli, [str(part) for part in arguments[command]], env={"COLUMNS": columns}).output
    words = {
        "report": [LONG, f"{LONG}_b", config, model, "$0.0100", "10.0"],
        "compare": [LONG, f"{LONG}_b", "regression", "-100.0 points"],
        "analyze": [LONG, config, model, "completed", "code_0_tests_pass"],
        "one run": [LONG, config, path],
    }
    assert [word for word in words[command] if word not in text] == []
    assert "…" not in text


def test_what_was_not_recorded_is_shown_as_unknown_and_not_compared(tmp_path: Path) -> None:
    unknown = {"usage": None, "duration_seconds": None, "num_turns": None}
    source = save(tmp_path / "r.json", arm(same(3), 3, cost=None, trace=unknown))
    data, page = tmp_path / "c.json", tmp_path / "c.html"
    call("compare", source, source, "--json", data, "--html", page)
    assert {m["name"] for m in json.loads(data.read_text())["metrics"]} == {"pass_rate"}
    shown = call("analyze", source, "-i", 0).output
    assert "time not recorded, turns not recorded, tokens not recorded, cost not recorded" in shown


def test_lost_judges_are_shown_and_not_counted(tmp_path: Path) -> None:
    source = save(tmp_path / "r.json", [*arm({"a": 2}, 2), judge_failed("a", index=2)])
    output = call("report", source).output
    assert "2/2" in output
    assert "1 judge_error" in output


def test_comparing_imports_nothing_of_the_harness() -> None:
    code = "import sys, measure.commands.report; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "measure.compare.comparison" in loaded
    assert "harness" not in loaded


@pytest.mark.parametrize("redirected", [">&-", "2>&1"])
def test_no_width_and_no_output_are_borne(tmp_path: Path, redirected: str) -> None:
    (tmp_path / "table.csv").write_text("task,arm,reward\n" + "".join(f"t{n},a,1\nt{n},b,0\n" for n in range(9)))
    command = f"{sys.executable} -m harness compare table.csv {redirected}"
    done = subprocess.run(
        ["sh", "-c", command], cwd=tmp_path, env=environment() | {"COLUMNS": "0"}, capture_output=True, text=True
    )
    assert "Traceback" not in done.stdout + done.stderr
    assert ("b is worse than a" in done.stdout) is (redirected == "2>&1")

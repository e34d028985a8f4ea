"""Tables of rewards as a source of results."""

from __future__ import annotations

from pathlib import Path

import pytest

from locobench.shared.errors import InputError
from measure.compare.comparison import compare
from measure.results.rewards import RewardScale
from measure.results.sources import load_source
from measure.results.table import load_table
from tests.support.suite import harness

PUBLISHED = """task,arm,reward,config,language,project
t1,A,0.1,baseline,go,p
t1,B,0.5,mcp,go,p
t2,A,0.2,baseline-local,c,p
t2,B,0.6,mcp-remote,c,p
t3,A,0.3,baseline,c,q
t3,B,0.7,mcp,c,q
t4,A,0.1,baseline,go,q
t4,B,0.6,mcp,go,q
t5,A,0.2,baseline,go,q
t5,B,0.6,mcp-remote,go,q
"""


def table(folder: Path, text: str) -> Path:
    path = folder / "table.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_line_is_a_run_of_its_arm(tmp_path: Path) -> None:
    arms = load_table(table(tmp_path, PUBLISHED))
    first_a, first_b = arms["A"][0], arms["B"][0]
    assert (first_a.overall_score, first_b.overall_score) == (0.1, 0.5)
    assert (first_a.config_name, first_b.config_name) == ("baseline", "mcp")
    assert (first_a.language, first_a.groups) == ("go", {"project": "p"})
    assert (first_a.tokens, first_a.cost_usd, first_a.trace.num_turns, first_a.trace.tool_count) == (None,) * 4


def test_a_line_a_run_names_its_arm(tmp_path: Path) -> None:
    path = table(tmp_path, "task,arm,reward\nt1,base,0\nt1,base,1\nt1,search,1\n")
    assert [(r.config_name, r.run_index, r.passed) for r in load_source(path)] == [
        ("base", 0, False),
        ("base", 1, True),
        ("search", 0, True),
    ]


def test_a_line_may_say_what_the_run_took(tmp_path: Path) -> None:
    text = "task;arm;reward;Cost;seconds;tokens;num_turns\nt1;a;1; 0.25;60.5;1200;7\nt1;b;1; ;;;\n"
    arms = load_table(table(tmp_path, text))
    assert [
        (run.cost_usd, run.trace.duration_seconds, run.tokens, run.trace.num_turns, run.groups)
        for (run,) in arms.values()
    ] == [(0.25, 60.5, 1200, 7, {}), (None, None, None, None, {})]


def test_what_runs_took_is_compared(tmp_path: Path) -> None:
    rows = [f"t{task},{arm},1,{cost * (1 + task / 10)}" for arm, cost in (("a", 1.0), ("b", 0.5)) for task in range(12)]
    arms = load_table(table(tmp_path, "\n".join(["task,arm,reward,cost_usd", *rows])))
    (cost,) = compare(*arms.values()).costs
    assert cost.name == "cost"
    assert cost.difference == pytest.approx(-0.5)


def test_configs_of_a_published_table_are_pooled_and_kept_as_groups(tmp_path: Path) -> None:
    a, b = load_table(table(tmp_path, PUBLISHED)).values()
    comparison = compare(a, b)
    assert comparison.decision.difference == pytest.approx(0.42)
    groups = [unit.groups for unit in comparison.decision.units]
    assert [(g["config_a"], g["config_b"]) for g in groups[:2]] == [
        ("baseline", "mcp"),
        ("baseline-local", "mcp-remote"),
    ]


def test_the_command_compares_the_arms_of_one_table(tmp_path: Path) -> None:
    table(tmp_path, PUBLISHED)
    shown = harness(tmp_path, "compare", "table.csv")
    assert "Not enough data to say whether B is better or worse than A" in shown.stdout
    assert "Score over 5 tasks of 2 repositories; the answer is about these 2 repositories alone" in shown.stdout
    rows = [f"t{n},{arm},0.{n + more},p{n}" for n in range(1, 8) for arm, more in (("A", 0), ("B", 2))]
    table(tmp_path, "\n".join(["task,arm,reward,project", *rows]))
    assert "B is better than A" in harness(tmp_path, "compare", "table.csv").stdout


def test_a_table_whose_rows_all_stand_there_five_times_is_refused(tmp_path: Path) -> None:
    rows = PUBLISHED.splitlines()
    path = table(tmp_path, "\n".join([rows[0], *rows[1:] * 5]))
    with pytest.raises(InputError, match=r"every row is there 5 times; .* number the runs in a column 'run'"):
        load_table(path)


def test_runs_that_are_numbered_may_have_the_same_reward(tmp_path: Path) -> None:
    rows = [f"t{task},{arm},{run},1" for task in range(3) for arm in "ab" for run in range(3)]
    assert [len(arm) for arm in load_table(table(tmp_path, "\n".join(["task,arm,run,reward", *rows]))).values()] == [
        9,
        9,
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no rows below the header"),
        ("task,arm\nt1,a\n", "row 2, column reward: Field required"),
        ("task,arm,reward,task\n", "row 1 has a column twice"),
        ("task,arm,,reward\n", "or one without a name"),
        ("task,arm,reward\n", "no rows below the header"),
        ("task,arm,reward\nt1,a\n", "row 2 has more or fewer cells than the header, which has 3"),
        ("task,arm,reward\nt1,a,1,1\n", "row 2 has more or fewer cells than the header, which has 3"),
        (
            "task,arm,reward\nt1,a,0\nt2,a,\n",
            "row 3, column reward is empty; write a number, pass or fail, or lost for a run",
        ),
        ("task,arm,reward\nt1,a,nan\n", "row 2, column reward is 'nan'; write a number"),
        ("task,arm,reward\nt1,a,inf\n", "row 2, column reward is inf, not between 0 and 1"),
        ("Task,Score\nt1,55\n", "row 2, column Score is 55, not between 0 and 1"),
        ("task,arm,reward,cost\nt1,a,1,$0.2\n", "row 2, column cost_usd: Input should be a valid number"),
        ("task,arm,reward,tokens\nt1,a,1,-3\n", "row 2, column tokens: Input should be greater than or equal to 0"),
        ("task,run,reward\nt1,1,1\nt1,2,1\nt1,1,0\n", "row 4 is run 1 of t1 again, after row 2; remove one of them"),
        ("task,arm,reward\nt1,a,55\n", "row 2, column reward is 55, not between 0 and 1"),
        ("task,arm,reward\n,a,1\n", "row 2, column task: String should have at least 1 character"),
        ("task,arm,reward\nt1,,1\n", "row 2, column arm: String should have at least 1 character"),
    ],
)
def test_a_bad_table_is_named_by_row_and_column(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        load_table(table(tmp_path, text))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_all_arms_of_a_table_are_compared(tmp_path: Path) -> None:
    rows = "".join(f"t{n},{arm},{arm != 'x':d}\n" for n in range(8) for arm in "xyz")
    table(tmp_path, f"task,arm,reward\n{rows}")
    shown = harness(tmp_path, "compare", "table.csv")
    assert "y is better than x" in shown.stdout
    assert "z against y" in shown.stdout


SPREADSHEETS = {
    "booleans": "task,arm,reward\nt,a,TRUE\nu,a,FALSE\n",
    "words": "task,arm,reward\nt,a,Pass\nu,a,failed\n",
    "semicolons": "task;arm;reward\nt;a;1.0\nu;a;0.0\n",
    "tabs": "task\tarm\treward\nt\ta\t1\nu\ta\t0\n",
    "another harness": "instance_id,arm,resolved\nt,a,True\nu,a,False\n",
    "capitals": "Task,ARM,Score\nt,a,1\nu,a,0\n",
    "empty rows": "task,arm,reward\nt,a,1\n,,\n\nu,a,0\n",
    "no arm": "instance_id,resolved\nt,1\nu,0\n",
    "marks and line ends of Windows": "\ufefftask,arm,reward\r\nt,a,1\r\nu,a,0\r\n",
}


@pytest.mark.parametrize("name", SPREADSHEETS)
def test_tables_of_spreadsheets_and_other_harnesses_are_read(tmp_path: Path, name: str) -> None:
    ((arm, runs),) = load_table(table(tmp_path, SPREADSHEETS[name])).items()
    assert [(run.task_id, run.passed, run.overall_score) for run in runs] == [("t", True, 1.0), ("u", False, 0.0)]
    assert arm == ("table" if name == "no arm" else "a")


def test_a_run_that_a_table_calls_lost_counts_in_no_rate(tmp_path: Path) -> None:
    results = load_source(table(tmp_path, "task,arm,reward\nt,a,1\nu,a,lost\nv,a,error\n"))
    assert [run.measured for run in results] == [True, False, False]


def test_a_reward_that_is_named_counts_before_a_column_called_reward(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("task,arm,score,reward\na,x,0.25,0.75\n")
    (run,) = load_table(tmp_path / "t.csv", RewardScale("score", 0, 1))["x"]
    assert (run.overall_score, run.groups) == (0.25, {"reward": "0.75"})


def test_a_table_with_several_rewards_is_read_by_the_one_that_counts(tmp_path: Path) -> None:
    path = table(tmp_path, "task,arm,reward,speedup\nt,a,1,2\nu,a,1,4\n")
    results = load_source(path, RewardScale("speedup", 0, 4))
    assert [run.overall_score for run in results] == [0.5, 1.0]

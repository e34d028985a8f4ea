"""How task, config and results files are read, and what their mistakes look like."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest

from harness.models import CodeAssertion, CodeCheckType, LLMAssertion, Task, TaskCategory
from harness.runner import EvalRunner
from harness.suite.resolve import resolve
from harness.suite.skills import find_skills
from locobench.shared.errors import InputError
from locobench.shared.files import write_whole

TASK = """\
id: fix
category: coding
description: d
prompt: p
assertions:
  - type: code
    check: tests_pass
"""


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TASK + "timeout_second: 3\n", r":8: timeout_second: unknown key; did you mean timeout_seconds\?"),
        (TASK + "scoring:\n  file_contains_x: 2\n", r":9: scoring.file_contains_x: scoring key matches no"),
        (TASK + "    fil: x\n", r":8: assertions.0.fil: unknown key; did you mean file\?"),
        (TASK + "  - id: x\n", r":8: assertions.1: needs `check:` \(a code assertion\) or `rubric:`"),
        (TASK + "  - {type: cod, check: tests_pass}\n", r":8: assertions.1: type must be `code` or `llm`"),
        (TASK + "  - {check: tests_pass, rubrik: x}\n", r":8: assertions.1.rubrik: unknown key"),
        (TASK + "prompt: again\n", r":8: not YAML \(found duplicate key \"prompt\""),
        (TASK + "    check: again\n", r":8: not YAML \(found duplicate key \"check\""),
        ("name: &all {a: *all}\n", r":1: name: "),
        (TASK + "setup: " + "[" * 800, r"nested too deeply|not YAML"),
        (TASK + "  x\n", r":\d+: not YAML"),
        (TASK + "notes: |\n \n  Read.\n", r":10: not YAML \(more indented follow up line"),
        (TASK + "setup: [!mine a]\n", r":8: not YAML \(could not determine a constructor for the tag '!mine'\)"),
        (
            TASK + "scoring: {!!python/object:os.system x: 1}\n",
            r":8: not YAML \(could not determine a constructor for the tag .*os.system",
        ),
        (TASK.replace("coding", "cooking"), r":2: category: .*'coding'"),
        ("- a\n", r":1: must be a mapping"),
        ("id: a\n", r"category: required key is missing"),
        ("", r":1: must be a mapping"),
        (TASK + "fixture_path: nowhere\n", r"fixture_path: .*/nowhere does not exist"),
        (TASK + "hidden_path: a.task.yaml\n", r"hidden_path: .*/a.task.yaml is no folder"),
    ],
    ids=[
        "key",
        "scoring",
        "nested",
        "neither",
        "type",
        "typeless",
        "twice",
        "inner",
        "circle",
        "deep",
        "yaml",
        "yaml in context",
        "tag",
        "tag of a key",
        "enum",
        "list",
        "missing",
        "empty",
        "path",
        "file for a folder",
    ],
)
def test_mistakes_name_file_line_and_key(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path / "a.task.yaml", text)
    with pytest.raises(InputError, match=str(path) + ".*" + message):
        EvalRunner.load_task(path)


def test_all_mistakes_of_a_file_are_named_at_once(tmp_path: Path) -> None:
    path = write(tmp_path / "c.yaml", "name: a\nmax_turns: x\nenv: {A-B: x}\n")
    with pytest.raises(InputError) as caught:
        EvalRunner.load_config(path)
    assert [line.split(": ")[1] for line in str(caught.value).splitlines()] == ["max_turns", "env.A-B"]


def test_an_assertion_without_a_type_is_what_its_check_or_its_rubric_makes_it(tmp_path: Path) -> None:
    text = TASK.replace("type: code\n    ", "") + "  - rubric: Is it small?\n"
    task = EvalRunner().load_task(write(tmp_path / "t.yaml", text))
    assert [type(assertion).__name__ for assertion in task.assertions] == ["CodeAssertion", "LLMAssertion"]


def test_an_assertion_made_in_python_is_taken_as_it_is() -> None:
    check = CodeAssertion(check=CodeCheckType.TESTS_PASS)
    judged = LLMAssertion(rubric="r")
    task = Task(id="t", category=TaskCategory.CODING, description="", prompt="p", assertions=[check, judged])
    assert task.assertions == [check, judged]
    assert Task.model_validate_json(task.model_dump_json()) == task


def test_a_character_that_yaml_forbids_is_named_in_one_line(tmp_path: Path) -> None:
    path = write(tmp_path / "t.yaml", TASK + "setup: ['\x1b[2J']\n")
    with pytest.raises(InputError) as caught:
        EvalRunner().load_task(path)
    assert str(caught.value).startswith(f"{path}: not YAML (unacceptable character #x001b: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        ("[a, b]", "2: env: Input should be a valid string"),
        ("{a: b}", "3: not YAML (found unhashable key)"),
        ("{[a]: b}", "3: not YAML (found unhashable key)"),
    ],
)
def test_a_key_that_is_no_plain_text_is_named_with_its_line(tmp_path: Path, key: str, problem: str) -> None:
    path = write(tmp_path / "c.yaml", f"name: c\nenv:\n  ? {key}\n  : x\n")
    with pytest.raises(InputError) as caught:
        EvalRunner.load_config(path)
    assert str(caught.value) == f"{path}:{problem}"


def test_a_server_without_a_name_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "c.yaml", "name: c\nmcp_config: {mcpServers: {: {command: cat}}}\n")
    with pytest.raises(InputError, match="one named object per server"):
        resolve(EvalRunner.load_config(path))


def test_yes_and_no_are_words(tmp_path: Path) -> None:
    """YAML 1.1 made booleans of them, which no variable can be."""
    path = write(tmp_path / "c.yaml", "name: no\nenv: {FAST: yes}\n")
    config = EvalRunner.load_config(path)
    assert (config.name, config.env["FAST"]) == ("no", "yes")


def test_keys_of_an_anchor_count(tmp_path: Path) -> None:
    text = TASK + "  - &check {type: code, check: file_exists, file: a}\n  - {<<: *check, file: b, fil: c}\n"
    with pytest.raises(InputError, match=r":9: assertions\.2\.fil: unknown key; did you mean file\?"):
        EvalRunner.load_task(write(tmp_path / "a.task.yaml", text))


def test_a_task_file_may_be_json(tmp_path: Path) -> None:
    task = {"id": "a", "category": "coding", "description": "d", "prompt": "p"}
    path = write(tmp_path / "a.task.json", json.dumps(task, indent=2))
    assert EvalRunner.load_task(path).id == "a"


def test_results_of_the_first_format_are_read(tmp_path: Path) -> None:
    """Without schema_version and outcomes, as earlier tools wrote them."""
    trace = {"is_error": True, "usage": {"input_tokens": 1}, "config_snapshot": {"model": "m"}}
    run = {
        "task_id": "t",
        "config_name": "c",
        "model": "m",
        "run_index": 0,
        "timestamp": "2025-01-01T00:00:00",
    }
    text = json.dumps({"timestamp": "2025-01-01T00:00:00", "num_results": 1, "results": [{**run, "trace": trace}]})
    (result,) = EvalRunner.load_results(write(tmp_path / "r.json", text))
    assert not result.measured


def test_paths_of_a_task_are_relative_to_its_file(tmp_path: Path) -> None:
    (tmp_path / "fixtures/a").mkdir(parents=True)
    path = write(tmp_path / "tasks/x/a.task.yaml", TASK + "fixture_path: ../../fixtures/a\n")
    assert EvalRunner.load_task(path).fixture_path == tmp_path / "fixtures/a"


def test_skills_are_relative_to_the_config_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They used to be looked up in the working directory, and were silently absent."""
    (tmp_path / "skills").mkdir()
    path = write(tmp_path / "configs/full/config.yaml", "name: full\nskills_path: ../../skills\n")
    monkeypatch.chdir("/")
    assert EvalRunner.load_config(path).skills_path == tmp_path / "skills"


def test_home_is_expanded_in_skills_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".claude/skills").mkdir(parents=True)
    path = write(tmp_path / "config.yaml", "name: full\nskills_path: ~/.claude/skills\n")
    assert EvalRunner.load_config(path).skills_path == tmp_path / ".claude/skills"


def test_missing_skills_are_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "config.yaml", "name: full\nskills_path: nowhere\n")
    with pytest.raises(InputError, match=r"skills_path: .*nowhere does not exist"):
        EvalRunner.load_config(path)


def test_globs_may_be_absolute_and_come_sorted(tmp_path: Path) -> None:
    """An absolute pattern used to raise, and the order was that of the disk."""
    for name in ("b", "a", "c"):
        write(tmp_path / name / "x.task.yaml", TASK.replace("id: fix", f"id: {name}"))
    tasks = EvalRunner.load_tasks_from_glob(f"{tmp_path}/**/*.task.yaml")
    assert [task.id for task in tasks] == ["a", "b", "c"]


def test_globs_may_be_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "configs/a/config.yaml", "name: a\n")
    monkeypatch.chdir(tmp_path)
    assert [config.name for config in EvalRunner.load_configs_from_glob("configs/*/config.yaml")] == ["a"]


def test_a_broken_file_in_a_glob_is_an_error_and_not_skipped(tmp_path: Path) -> None:
    write(tmp_path / "a.task.yaml", TASK)
    write(tmp_path / "b.task.yaml", "id: [\n")
    with pytest.raises(InputError, match=r"b\.task\.yaml"):
        EvalRunner.load_tasks_from_glob(f"{tmp_path}/*.task.yaml")


def test_a_glob_that_matches_nothing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file matches"):
        EvalRunner.load_tasks_from_glob(f"{tmp_path}/*.yaml")


def test_two_tasks_with_one_id_are_an_error(tmp_path: Path) -> None:
    write(tmp_path / "a.task.yaml", TASK)
    write(tmp_path / "b.task.yaml", TASK)
    with pytest.raises(InputError, match=r"b\.task\.yaml: id 'fix' is already used by .*a\.task\.yaml"):
        EvalRunner.load_tasks_from_glob(f"{tmp_path}/*.task.yaml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ('{"schema_version": 99, "results": []}', "schema_version: 99 is newer"),
        ('{"timestamp": 0, "num_results": 1, "results": [{"task_id": 1}]}', "is this a results file"),
        ("3", "is this a results file"),
    ],
    ids=["json", "newer", "shape", "number"],
)
def test_what_is_no_results_file_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        EvalRunner.load_results(write(tmp_path / "r.json", text))


def test_results_are_read_back_as_they_were_saved(tmp_path: Path) -> None:
    from tests.harness.test_models import grade, result

    results = [result(grade("llm_0", 0.5, "llm")), result(task_id="other")]
    path = EvalRunner(results_dir=tmp_path).save_results(results, "r.json", save_debug=True)
    assert path == tmp_path / "r.json"
    assert EvalRunner.load_results(path) == results
    debug = json.loads((tmp_path / "r.debug.json").read_text())
    assert [grade["id"] for grade in debug["results"][0]["grading_breakdown"]] == ["llm_0"]
    assert debug["results"][1]["trace"]["tool_call_timeline"] == []


def test_an_output_path_is_honoured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only its base name used to be kept, below evals/results, while the message named the path."""
    monkeypatch.chdir(tmp_path)
    path = EvalRunner().save_results([], str(tmp_path / "deep/er/out.json"))
    assert path == tmp_path / "deep/er/out.json"
    assert path.exists()
    assert not (tmp_path / "evals").exists()


def test_a_file_that_cannot_be_written_leaves_the_old_one_whole(tmp_path: Path) -> None:
    path = write(tmp_path / "r.json", "old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "x" * 1_000_000 + "\ud800")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_secrets_do_not_get_into_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from harness.models import ExecutionTrace
    from tests.harness.test_models import result

    monkeypatch.setenv("ANTHROPIC_API_KEY", 'sk-ant-"quoted"-secret')
    trace = ExecutionTrace(stderr='key is sk-ant-"quoted"-secret')
    path = EvalRunner(results_dir=tmp_path).save_results([result(trace=trace)], "r.json", save_debug=True)
    for file in (path, tmp_path / "r.debug.json"):
        assert "secret" not in file.read_text()
        assert "[REDACTED]" in file.read_text()


@pytest.mark.parametrize("key", ["claude_md", "agents_md"])
@pytest.mark.parametrize("text", [" # Rules", "  # Rules\nmodel: m", "\n  # Rules"])
def test_a_text_that_yaml_takes_for_a_comment_is_told(tmp_path: Path, key: str, text: str) -> None:
    """The run went on without it, and measured nothing."""
    path = write(tmp_path / "config.yaml", f"name: c\n{key}:{text}\n")
    with pytest.warns(UserWarning, match=rf"config\.yaml: {key} is empty, since YAML takes '# Rules' for a comment"):
        config = EvalRunner.load_config(path)
    assert getattr(config, key) is None


@pytest.mark.parametrize("name", ["CLAUDE.md", "docs/RULES.md"])
def test_a_text_that_names_a_file_is_told(tmp_path: Path, name: str) -> None:
    write(tmp_path / name, "# Rules\n")
    path = write(tmp_path / "config.yaml", f"name: c\nclaude_md: {name}\n")
    with pytest.warns(
        UserWarning, match=rf"claude_md is the text '{name}' itself, though there is a file of that name"
    ):
        EvalRunner.load_config(path)


@pytest.mark.parametrize(
    "text",
    ["claude_md:\n", "claude_md: null  # none\n", "claude_md:\n# model\nmodel: m\n", "claude_md: |\n  # Rules\n",
     "claude_md: '# Rules'\n", "claude_md: CLAUDE.md\n", "claude_md: '" + "x" * 5000 + "'\n", "claude_md: ''\n"],
)  # fmt: skip
@pytest.mark.filterwarnings("error")
def test_a_config_that_says_what_it_means_warns_of_nothing(tmp_path: Path, text: str) -> None:
    EvalRunner.load_config(write(tmp_path / "config.yaml", f"name: c\n{text}"))


SKILLS = {
    "no front matter": ("# Review\n", False),
    "a line before it": ("\n---\ndescription: d\n---\n", False),
    "no end": ("---\nname: s\ndescription: d\n", False),
    "a colon": ("---\nname: s\ndescription: Use for: this\n---\n", False),
    "a tab": ("---\nname: s\n\tdescription: d\n---\n", False),
    "a list": ("---\n- name: s\n---\n", False),
    "no description": ("---\nname: s\n---\n", False),
    "an empty one": ("---\nname: s\ndescription:\n---\n", False),
    "a good one": ("---\nname: s\ndescription: d\n---\n", True),
    "one with a quoted colon": ('---\nname: s\ndescription: "Use for: this"\n---\n', True),
    "one of several lines": ("---\nname: s\ndescription: >\n  Use for\n  this\n---\n", True),
    "one with the line ends of Windows": ("\ufeff---\r\nname: s\r\ndescription: d\r\n---\r\n", True),
}


@pytest.mark.parametrize("name", SKILLS)
def test_a_skill_that_the_agent_would_never_use_gets_a_warning(tmp_path: Path, name: str) -> None:
    text, is_good = SKILLS[name]
    (tmp_path / "skills/s").mkdir(parents=True)
    (tmp_path / "skills/s/SKILL.md").write_text(text, newline="")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        (skill,) = find_skills(tmp_path / "skills")
    assert "s" in skill.names
    said = [str(warning.message) for warning in caught]
    assert len(said) == (0 if is_good else 1)
    assert all("has no description in its front matter" in text for text in said)

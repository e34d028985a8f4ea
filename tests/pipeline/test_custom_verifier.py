"""Tasks with somebody's own verify.py: what is put into them, what is not run, and the example of the docs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

import smoke_test
from locobench.generate.options import CustomVerifier
from locobench.shared.errors import InputError
from locobench.smoke.task import read_task_folder
from locobench.smoke.trial import run_locally
from tests.conftest import REPOSITORY, Script
from tests.pipeline.test_adapter import generate
from tests.support.data_builder import FILES, Data
from tests.support.invariants import call

EXAMPLE = re.findall(r"```python\n(.*?)```", (REPOSITORY / "docs/CUSTOM_VERIFIER.md").read_text(), re.DOTALL)[0]
# The 1.0 of whoever hands in anything.
GENEROUS = """
import json, os, sys
answered = os.path.exists(sys.argv[1] + "/app/solution.md")
with open(sys.argv[1] + "/logs/verifier/reward.json", "w") as out:
    json.dump({"reward": %s if answered else 0.0}, out)
"""


def verify(task: Path, root: Path, answer: str | None, **env: str) -> tuple[float, dict[str, Any], str]:
    """Run the task's test.sh on an answer; return reward, metrics and all that was printed."""
    (root / "app").mkdir(parents=True)
    (root / "tests").symlink_to(task / "tests")
    if (task / "environment/project").exists():
        (root / "app/project").symlink_to(task / "environment/project")
    if answer is not None:
        (root / "app/solution.md").write_text(answer)
    command = ["bash", str(task / "tests/test.sh"), str(root)]
    done = subprocess.run(command, env=os.environ | env, capture_output=True, text=True, timeout=120)
    told = {name: json.loads((root / f"logs/verifier/{name}.json").read_text()) for name in ("reward", "metrics")}
    return told["reward"]["reward"], told["metrics"], done.stdout + done.stderr


def custom(folder: Path, text: str) -> CustomVerifier:
    path = folder / "my_verify.py"
    path.write_text(text)
    return CustomVerifier.load(path)


def make_task(data: Data, tmp_path: Path, text: str, **options: Any) -> Path:
    data.project()
    data.scenario()
    return generate(data, tmp_path, verifier=custom(tmp_path, text), **options)


def test_the_example_of_the_docs_scores_answers(data: Data, tmp_path: Path) -> None:
    task = make_task(data, tmp_path, EXAMPLE)
    two = "The price is kept in src/price_cache.py and read in src/basket.py."

    reward, metrics, _ = verify(task, tmp_path / "two", two)
    assert reward == pytest.approx(2 / len(FILES))
    assert metrics["named"] == ["src/price_cache.py", "src/basket.py"]
    assert verify(task, tmp_path / "all", "\n".join(FILES))[0] == 1.0
    assert verify(task, tmp_path / "none", None)[0] == 0.0


def test_a_copy_of_the_published_verifier_with_another_comparison_grades(data: Data, tmp_path: Path) -> None:
    source = (REPOSITORY / "locobench/scoring/published.py").read_text()
    own = "def compute_keyword_overlap(solution, ground_truth):\n    return 1.0 if 'clock' in solution else 0.0\n\n\n"
    begin, end = source.index("def compute_keyword_overlap"), source.index("def check_file_references")
    task = make_task(data, tmp_path, source[:begin] + own + source[end:], scoring="published")
    assert verify(task, tmp_path / "one", "It is the clock.")[1]["components"]["keyword_overlap"] == 1.0
    assert verify(task, tmp_path / "two", "It is the cache.")[1]["components"]["keyword_overlap"] == 0.0


def test_the_example_of_the_docs_is_short() -> None:
    assert len([line for line in EXAMPLE.splitlines() if line.strip()]) <= 21


def test_it_is_not_run_when_tasks_are_generated(data: Data, tmp_path: Path) -> None:
    make_task(data, tmp_path, f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    assert not (tmp_path / "ran").exists()


def test_it_stands_in_the_task_byte_by_byte_and_by_name(data: Data, tmp_path: Path) -> None:
    task = make_task(data, tmp_path, EXAMPLE)
    metadata = tomllib.loads((task / "task.toml").read_text())["metadata"]

    assert (task / "tests/verify.py").read_text() == EXAMPLE
    assert metadata["verifier"] == "my_verify.py"
    assert "oracle_reward" not in metadata


ANSWERED = """
import os, sys
with open(f"{sys.argv[1]}/logs/verifier/reward.json", "w") as out:
    out.write('{"reward": %s}' % (0.5 if os.path.exists(f"{sys.argv[1]}/app/solution.md") else 0.1))
"""


def test_the_smoke_test_leaves_the_oracles_reward_to_it(data: Data, tmp_path: Path) -> None:
    task = make_task(data, tmp_path, ANSWERED)

    assert run_locally(read_task_folder(task), "oracle", timeout=30).reward() == 0.5
    assert call(smoke_test.main, str(task), "--local", "--quiet")[0] == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("raise KeyError('truth')\n", "the verifier raised KeyError: 'truth'"),
        (GENEROUS % 7.0, "test.sh wrote the reward 7, which is not between 0 and 1"),
        (ANSWERED.replace("0.1", "0.5"), "oracle and nop both earn 0.5: the verifier does not tell an answer"),
        ("raise SystemExit('no')\n", "oracle and nop both earn 0.0"),
    ],
)
def test_the_smoke_test_fails_a_verifier_that_is_broken(data: Data, tmp_path: Path, text: str, said: str) -> None:
    task = make_task(data, tmp_path, text)
    code, _, errors = call(smoke_test.main, str(task), "--local", "--quiet")
    assert code == 1
    assert said in errors


@pytest.mark.slow
def test_the_smoke_test_gives_a_verifier_as_long_as_the_task_does(data: Data, tmp_path: Path) -> None:
    task = make_task(data, tmp_path, "import time\ntime.sleep(30)\n")
    config = task / "task.toml"
    config.write_text(re.sub(r"(\[verifier\][^\[]*?timeout_sec = )[\d.]+", r"\g<1>1.0", config.read_text()))
    code, _, errors = call(smoke_test.main, str(task), "--local", "--quiet")
    assert code == 1
    assert "still ran after 1 s and was killed" in errors


DEBUGGED = """
import json, os, sys
from pathlib import Path
root = Path(sys.argv[1])
words = (root / "app/solution.md").read_text().split()
print("words:", words, "for", os.environ.get("VERIFIER_KEY"), "\\x1b[31m")
reward = len(words) / 4
(root / "logs/verifier/metrics.json").write_text(json.dumps({"words": len(words)}))
(root / "logs/verifier/reward.json").write_text(json.dumps({"reward": reward}))
"""


def test_a_verifier_can_be_watched_at_one_answer(data: Data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = make_task(data, tmp_path, DEBUGGED)
    answer = tmp_path / "answer.md"
    answer.write_text("two words")
    monkeypatch.setenv("VERIFIER_KEY", "k")
    code, output, _ = call(smoke_test.main, str(task), "--answer", str(answer))
    assert code == 0
    assert output.splitlines() == [
        "the verifier printed:", "words: ['two', 'words'] for k \\x1b[31m", "",
        "metrics.json:", '{"words": 2}', "", "reward: 0.5",
    ]  # fmt: skip
    answer.write_text("many more than four words")
    code, output, errors = call(smoke_test.main, str(task), "--answer", str(answer))
    assert code == 1
    assert errors == f"{task.name}: test.sh wrote the reward 1.25, which is not between 0 and 1\n"
    assert '{"words": 5}' in output


def test_a_verifier_that_prints_a_traceback_shows_it(data: Data, tmp_path: Path) -> None:
    task = make_task(data, tmp_path, "raise KeyError('truth')\n")
    answer = str(task / "solution/solution.md")
    code, output, errors = call(smoke_test.main, str(task), "--answer", answer)
    assert code == 1
    assert errors == f"{task.name}: the verifier raised KeyError: 'truth'\n"
    assert 'verify.py", line 1, in <module>' in output
    assert "metrics.json: nothing" in output


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["{task}", "--answer", "{task}/none"], "{task}/none: No such file or directory; --answer names"),
        (["{task}", "--answer", "{task}"], "{task}: Is a directory; --answer names"),
        (["{task}/tests", "--answer", "{task}/task.toml"], "{task}/tests: no task.toml; --answer needs"),
    ],
)
def test_what_cannot_be_graded_is_one_line(
    data: Data, tmp_path: Path, script: Script, flags: list[str], said: str
) -> None:
    task = make_task(data, tmp_path, DEBUGGED)
    result = script("smoke_test.py", *(flag.format(task=task) for flag in flags))
    assert result.returncode == 2
    assert result.stderr.startswith(f"smoke_test.py: {said.format(task=task)}")
    assert result.stderr.count("\n") == 1


def test_a_truth_that_the_own_verifier_could_not_score_is_no_matter(data: Data, tmp_path: Path) -> None:
    data.project({"notes.txt": "one two three\n"})
    data.scenario(ground_truth="It is.", context_files=["shop/notes.txt"])
    task = generate(data, tmp_path, verifier=custom(tmp_path, EXAMPLE))

    assert json.loads((task / "tests/ground_truth.json").read_text()) == {"ground_truth": "It is.", "key": {}}
    assert (task / "solution/solution.md").read_text().strip() == "It is."


def test_tasks_without_the_code_give_it_to_the_verifier_alone(data: Data, tmp_path: Path) -> None:
    task = make_task(data, tmp_path, EXAMPLE, closed_book=True)
    assert (task / "tests/project/src/basket.py").is_file()
    assert not (task / "environment/project").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"def", r"my_verify\.py: not valid Python: .* line 1"),
        (b"x = '\0'", r"not valid Python"),
        (None, "cannot be read"),
    ],
)
def test_what_is_no_python_is_refused(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "my_verify.py"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        CustomVerifier.load(path)


def test_run_adapter_takes_it_and_writes_again_when_it_changed(data: Data, tmp_path: Path, script: Script) -> None:
    data.project()
    data.scenario()
    assert script("extract_dataset.py", "--data_dir", data.folder, "--output", tmp_path / "d.jsonl").returncode == 0
    own = tmp_path / "my_verify.py"
    flags = ["--dataset_path", tmp_path / "d.jsonl", "--data_dir", data.folder, "--output_dir", tmp_path / "tasks"]

    def run() -> str:
        return script("run_adapter.py", *flags, "--verifier", own).stdout

    own.write_text(EXAMPLE)
    assert "1 tasks written" in run()
    assert "1 unchanged" in run()
    own.write_text(EXAMPLE + "\n")
    assert "1 tasks written" in run()
    own.unlink()
    refused = script("run_adapter.py", *flags, "--verifier", own)
    assert refused.returncode == 2
    assert "docs/CUSTOM_VERIFIER.md" in refused.stderr

"""What examples/code-search promises: bounded answers, nothing from outside of the repositories, errors that help."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import repositories as module
from repositories import MAX_CHARACTERS, MAX_LINES, Repositories, RequestError, SetupError
from scripted_program import Server

from tests.support.in_process import run_in_process
from tests.support.suite import REPOSITORY

SERVER = REPOSITORY / "examples/code-search/server.py"
CODE = "def first():\n    return 1\n\n\ndef second():\n    return 'Première'\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return repositories(tmp_path)


def repositories(place: Path) -> Path:
    """Two repositories as run_adapter.py --mirror_repos leaves them, and a secret beside them."""
    folder = place / "repos"
    for name, files in {
        "alpha": {"src/main.py": CODE, "src/deep/util.py": "first = None\n", "README.md": "first of all\n"},
        "beta": {"main.go": "func first() {}\r\n", ".git/config": "first\n"},
    }.items():
        for path, text in files.items():
            (folder / name / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / name / path).write_text(text, newline="")
    entries = [{"path": "alpha", "language": "python"}, {"path": "beta", "language": "go"}]
    (folder / module.INDEX_FILE).write_text(json.dumps(entries))
    (place / "secret.txt").write_text("first secret\n")
    return folder


@pytest.fixture
def loaded(folder: Path) -> Repositories:
    return Repositories.load(folder)


def test_repositories_are_listed_with_language_and_size(loaded: Repositories) -> None:
    assert loaded.list_repos() == "alpha  python, 3 files\nbeta  go, 1 files"


def test_a_path_leaves_the_repositories_that_have_such_a_file(loaded: Repositories) -> None:
    assert loaded.list_repos("src/main.py") == "alpha  python, 3 files"


def test_a_match_comes_with_repository_path_and_line(loaded: Repositories) -> None:
    assert loaded.search(r"def \w+\(") == (
        "2 matching lines in 1 files\nalpha/src/main.py:1:def first():\nalpha/src/main.py:5:def second():"
    )


def test_all_repositories_are_searched_and_their_git_folders_are_not(loaded: Repositories) -> None:
    found = loaded.search("first").splitlines()[1:]

    assert [line.split(":")[0] for line in found] == [
        *("alpha/README.md", "alpha/src/deep/util.py", "alpha/src/main.py", "beta/main.go"),
    ]


@pytest.mark.parametrize(
    ("path", "files"),
    [
        ("*.py", 2),
        ("src/", 2),
        ("./src/main.py", 1),
        ("src/*.py", 2),
        ("src/**/*.py", 2),
        ("**/main.*", 2),
        ("README.md", 1),
    ],
)
def test_a_glob_chooses_files(loaded: Repositories, path: str, files: int) -> None:
    assert f"in {files} files" in loaded.search("first|func", path=path)


def test_context_marks_what_did_not_match(loaded: Repositories) -> None:
    assert loaded.search("Première", context=1, repo="alpha").splitlines()[1:] == [
        "alpha/src/main.py-5-def second():",
        "alpha/src/main.py:6:    return 'Première'",
    ]


def test_groups_of_context_are_set_apart(loaded: Repositories) -> None:
    assert loaded.search("return", context=1).splitlines()[1:].count("--") == 1


def test_literal_text_is_no_expression(loaded: Repositories) -> None:
    assert loaded.search("first(", literal=True, path="*.py") == (
        "1 matching lines in 1 files\nalpha/src/main.py:1:def first():"
    )


def test_case_counts_unless_it_is_ignored(loaded: Repositories) -> None:
    assert loaded.search("FIRST") == "no match in 4 files"
    assert "4 matching lines" in loaded.search("FIRST", ignore_case=True)


def test_a_match_stays_within_its_line(loaded: Repositories) -> None:
    assert loaded.search(r"first[^;]*return") == "no match in 4 files"


def test_an_anchor_means_the_line(loaded: Repositories) -> None:
    assert "alpha/src/main.py:3:" in loaded.search("^$")


def test_a_search_that_finds_more_than_its_limit_says_so(loaded: Repositories) -> None:
    first_line, *found = loaded.search("first", limit=2).splitlines()

    assert "more than the limit of 2" in first_line
    assert len(found) == 2


def test_a_limit_that_is_just_met_is_no_warning(loaded: Repositories) -> None:
    assert loaded.search("first", limit=4).splitlines()[0] == "4 matching lines in 4 files"


def test_a_hostile_expression_does_not_stall_the_server(folder: Path) -> None:
    """An engine that backtracks would not come back from this one."""
    (folder / "beta/long.txt").write_text("a" * 100_000 + "b\n")

    assert Repositories.load(folder).search("(a+)+$", path="long.txt") == "no match in 1 files"


@pytest.mark.parametrize("pattern", ["(", "(?=x)", "", r"\p{Nothing}"])
def test_what_is_no_expression_is_refused_with_the_reason(loaded: Repositories, pattern: str) -> None:
    with pytest.raises(RequestError, match=r"pattern is empty|not a regular expression: .+"):
        loaded.search(pattern)


def test_an_answer_is_bounded_and_says_what_it_left_out(folder: Path) -> None:
    (folder / "beta/wide.txt").write_text(("x" * 5_000 + "\n") * 900)
    loaded = Repositories.load(folder)

    for text in (loaded.search("x", limit=200, path="wide.txt"), loaded.read_file("beta", "wide.txt")):
        assert len(text) < MAX_CHARACTERS + 100
        assert "4700 more characters" in text
        assert text.splitlines()[-1].startswith("[")


def test_binary_files_are_neither_searched_nor_read(folder: Path) -> None:
    (folder / "beta/image.png").write_bytes(b"first\0second")
    loaded = Repositories.load(folder)

    assert "image.png" not in loaded.search("first")
    with pytest.raises(RequestError, match="is no text"):
        loaded.read_file("beta", "image.png")


def test_lines_of_a_file_come_with_numbers(loaded: Repositories) -> None:
    assert loaded.read_file("alpha", "src/main.py", 5, 6) == (
        "alpha/src/main.py, lines 5 to 6 of 6\n5\tdef second():\n6\t    return 'Première'"
    )


def test_a_long_file_is_read_in_parts(folder: Path) -> None:
    (folder / "beta/long.txt").write_text("line\n" * 2_000)

    text = Repositories.load(folder).read_file("beta", "long.txt", 1_000)

    assert text.splitlines()[0] == f"beta/long.txt, lines 1000 to {999 + MAX_LINES} of 2000"


@pytest.mark.parametrize(("first", "last"), [(0, None), (7, None), (3, 2), (-1, 2)])
def test_lines_that_are_not_there_are_refused(loaded: Repositories, first: int, last: int | None) -> None:
    with pytest.raises(RequestError):
        loaded.read_file("alpha", "src/main.py", first, last)


@pytest.mark.parametrize(
    ("repo", "path"),
    [
        ("alpha", "../../secret.txt"),
        ("alpha", "src/../../../secret.txt"),
        ("..", "secret.txt"),
        (".", "projects_to_index.json"),
        ("", "alpha/src/main.py"),
        ("alpha", ".git/config"),
    ],
)
def test_no_path_leads_out_of_a_repository(loaded: Repositories, repo: str, path: str) -> None:
    with pytest.raises(RequestError):
        loaded.read_file(repo, path)


def test_an_absolute_path_is_refused(folder: Path, loaded: Repositories) -> None:
    with pytest.raises(RequestError):
        loaded.read_file("alpha", str(folder.parent / "secret.txt"))


def test_links_are_not_followed(folder: Path) -> None:
    (folder / "alpha/link.txt").symlink_to(folder.parent / "secret.txt")
    (folder / "alpha/out").symlink_to(folder.parent)
    loaded = Repositories.load(folder)

    assert "secret" not in loaded.search("first")
    for path in ("link.txt", "out/secret.txt"):
        with pytest.raises(RequestError):
            loaded.read_file("alpha", path)


def test_a_wrong_path_is_answered_with_the_right_one(loaded: Repositories) -> None:
    with pytest.raises(RequestError, match=r"there is src/main\.py"):
        loaded.read_file("alpha", "main.py")


@pytest.mark.parametrize("content", [None, "[", '{"path": 1}', "[{}]", '[{"path": "..", "language": "c"}]'])
def test_a_folder_without_its_index_is_not_served(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / module.INDEX_FILE).write_text(content)

    with pytest.raises(SetupError, match=r"--mirror_repos"):
        Repositories.load(tmp_path)


def serve(*arguments: str | Path) -> subprocess.Popen[str]:
    command = [sys.executable, str(SERVER), *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running server over the two repositories."""
    process = serve(repositories(tmp_path_factory.mktemp("served")), "--port", "0")
    assert process.stdout is not None
    yield process.stdout.readline().split()[-1]
    process.terminate()
    process.communicate(timeout=20)


def post(url: str, message: dict[str, Any], **headers: str) -> dict[str, Any]:
    given = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **headers}
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(message).encode(), given)) as response:
        answer: dict[str, Any] = json.loads(response.read())
    return answer


def test_the_server_offers_three_tools_with_descriptions(url: str) -> None:
    tools = post(url, {"jsonrpc": "2.0", "id": 1, "method": "tools/list"})["result"]["tools"]

    assert {tool["name"] for tool in tools} == {"list_repos", "search", "read_file"}
    assert all(tool["description"] for tool in tools)


def test_a_client_of_the_standard_library_can_call_the_tools(url: str) -> None:
    server = Server("code-search", url)

    assert server.call("read_file", repo="beta", path="main.go").splitlines()[1] == "1\tfunc first() {}"
    assert server.calls[0]["name"] == "mcp__code-search__read_file"


def test_a_refusal_reaches_the_agent_with_its_reason(url: str) -> None:
    call = {"name": "search", "arguments": {"pattern": "(", "limit": 3}}
    result = post(url, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})["result"]

    assert result["isError"]
    assert "not a regular expression" in result["content"][0]["text"]


def test_the_server_answers_to_the_name_that_containers_use(url: str) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert "result" in post(url, message, Host="host.docker.internal:8765")
    with pytest.raises(urllib.error.HTTPError, match="421"):
        post(url, message, Host="elsewhere.example:8765")


@pytest.mark.slow
def test_ctrl_c_ends_the_server_without_a_word(folder: Path) -> None:
    process = serve(folder, "--port", "0")
    assert process.stdout is not None
    post(process.stdout.readline().split()[-1], {"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    process.send_signal(signal.SIGINT)
    assert (process.communicate(timeout=20), process.returncode) == (("", ""), 0)


def test_a_python_without_the_libraries_is_told_how_to_get_them() -> None:
    done = subprocess.run([sys.executable, "-S", str(SERVER), "x"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (
        2, "this Python lacks uvicorn: pip install -e '.[example]' in the checkout\n",
    )  # fmt: skip


def test_the_server_says_in_one_line_why_it_cannot_start(tmp_path: Path, folder: Path, url: str) -> None:
    taken = url.split(":")[2].split("/")[0]
    for arguments, reason in (
        ((tmp_path,), "--mirror_repos"),
        ((folder, "--port", taken), "--port"),
        ((folder, "--host", "", "--port", "0"), "--host is empty"),
    ):
        ended = run_in_process(SERVER, [str(argument) for argument in arguments])
        assert (ended.returncode, ended.stderr.count("\n")) == (2, 1)
        assert reason in ended.stderr

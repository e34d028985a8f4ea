"""Whether what a reader is told to type exists: commands with their options, links, make targets."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.suite import REPOSITORY

PAGES = [
    REPOSITORY / "README.md",
    REPOSITORY / "CONTRIBUTING.md",
    REPOSITORY / "SMOKE_TEST_RESULTS.md",
    *(REPOSITORY / "docs").glob("*.md"),
    *(REPOSITORY / "examples").glob("*/README.md"),
    REPOSITORY / "evals/README.md",
]
# Written from the commands themselves, and `make check` compares it with them.
REFERENCE = (REPOSITORY / "docs/CLI_REFERENCE.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^### (\S+)\n(.*?)(?=^##|\Z)", REFERENCE, re.MULTILINE | re.DOTALL))
ON_EVERY_COMMAND = {"--help", "--version"}
LINK = re.compile(r"\]\(([^)#\s]+)(?:#([^)]*))?\)")


def commands(page: Path) -> Iterator[list[str]]:
    """The words of each command in the page's bash blocks, without comments."""
    for block in re.findall(r"^```bash\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            for command in re.split(r"&&|\|\||;", line):
                lexer = shlex.shlex(command, posix=True, punctuation_chars=False)
                lexer.whitespace_split = True
                try:
                    yield list(lexer)
                except ValueError:  # a part of a loop, or of a quoted program
                    continue


def ours() -> list[tuple[str, str, list[str]]]:
    found = []
    for page in PAGES:
        for words in commands(page):
            while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
                words = words[1:]
            if words[:1] == ["python"] and words[1:2] and words[1].endswith(".py") and words[1] in SECTIONS:
                found.append((page.name, words[1], words[2:]))
            elif words[:3] == ["python", "-m", "harness"] and len(words) > 3:
                found.append((page.name, words[3], words[4:]))
    return found


def test_every_option_on_a_page_exists() -> None:
    typed = ours()
    assert len(typed) > 40
    wrong = []
    for page, command, words in typed:
        assert command in SECTIONS, (page, command)
        for word in words:
            if re.match(r"--?[a-z]", word) and word.partition("=")[0] not in ON_EVERY_COMMAND:
                option = re.escape(word.partition("=")[0])
                if not re.search(rf"`{option}[` ]", SECTIONS[command]):
                    wrong.append((page, command, word))
    assert wrong == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name + "/" + page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    prose = re.sub(r"^```.*?^```|`[^`\n]+`(?!\])", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    wrong = []
    for target, anchor in LINK.findall(prose):
        if target.startswith("http"):
            continue
        path = page.parent / target
        if not path.exists():
            wrong.append(target)
        elif anchor and path.suffix == ".md":
            headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
            if anchor not in [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]:
                wrong.append(f"{target}#{anchor}")
    assert wrong == []


def test_every_make_target_on_a_page_exists() -> None:
    targets = set(re.findall(r"^([a-z0-9-]+):", (REPOSITORY / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for page in PAGES:
        for words in commands(page):
            if words[:1] == ["make"]:
                named = {word for word in words[1:] if "=" not in word}
                assert named <= targets, (page, named)


def test_the_readme_is_read_in_one_go() -> None:
    lines = (REPOSITORY / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 130
    order = [line for line in lines if line.startswith("## ")][:4]
    assert order == [
        "## Quick start",
        "## Your own code",
        "## With and without a search server",
        "## The full benchmark",
    ]


def test_every_page_is_listed_in_the_readme() -> None:
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    assert [page.name for page in (REPOSITORY / "docs").glob("*.md") if f"docs/{page.name}" not in text] == []

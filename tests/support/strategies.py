"""Hypothesis strategies for what strangers wrote: scenarios of any shape, raw bytes, and project trees."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple

from hypothesis import strategies as st

from locobench.dataset.catalog import DIFFICULTIES
from select_tasks import CATEGORY_BONUSES
from tests.support.data_builder import CATEGORY, PROJECT, TRUTH

SECRET = "zq-outside-secret-qz"
"""Stands in files outside the project; a task that holds it has read what it must not."""

# Fragments with a meaning to something that handles the text on its way.
_SYNTAX = [
    "{{ x }}", "{% raw %}", "{# c #}", "{id}", "{0}", "%s", "${HOME}", "$(id)", "`id`", "\\n", "\\", "EOF\n", "'''",
    '"""', "```", "~~~~\n", "\r\n", "\r", "\0", "\x1b[31m", "\u2028", "\ufeff", "]]>", "<!-- canary -->", "# canary\n",
    "FROM scratch\n", "RUN rm -rf /\n", "[task]\nname = 1\n", "../../etc/passwd", "\U0001f469\u200d\U0001f680",
    "\u0430", "e\u0301", "\u202e", "A" * 300, "a" * 5000, "/", "//", ".", "..", "-", " ", "\t", "\n",
]  # fmt: skip
_WORDS = ["`warm_start`", "PriceCache", "src/basket.py", "orders.py", "monotonic_seconds", "expiry", "3.14"]

texts = st.lists(
    st.one_of(st.sampled_from(_WORDS), st.sampled_from(_SYNTAX), st.text(st.characters(codec="utf-8"), max_size=20)),
    max_size=12,
).map(" ".join)
"""Text as a model may write it: words of the project, syntax of every kind, any character of Unicode."""

shapes = st.recursive(
    st.one_of(texts, st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=8,
)
"""Any JSON value."""

_NAMES = [
    "src", "basket.py", "price_cache.py", "orders.py", "README.md", "Readme.md", "readme.MD", "tests", "Dockerfile",
    ".dockerignore", ".gitignore", ".git", ".hg", "solution.md", "solution", "instruction.md", "task.toml", "test.sh",
    "environment", "project_metadata.json", "name", "type", "children", "CON", "nul.txt", "a b", " ", "-rf", "--help",
    "$(id)", "{{ x }}", "back\\slash", "new\nline", "\u202egpj", "cafe\u0301", "caf\u00e9", "\u0430.py", "a.py",
    "\udcff\udcfe", "x" * 255, "*", "'", '"', "#", "%2e%2e", "...", "~",
]  # fmt: skip
_names = st.one_of(
    st.sampled_from(_NAMES),
    st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=8).filter(
        lambda name: name not in (".", "..")
    ),
)
_paths = st.lists(_names, min_size=1, max_size=4).map("/".join)


class Entry(NamedTuple):
    """One thing in a project's folder."""

    path: str
    kind: Literal["file", "folder", "link", "pipe"]
    content: str = ""
    """A file's text or a link's target; `{outside}` in a target becomes the path of a folder outside the project."""
    mode: int = 0o644


_targets = st.one_of(
    _paths,
    st.sampled_from([
        ".", "..", "/", "/etc/passwd", "{outside}", "{outside}/secret", "../../../../outside/secret", "../outside",
        "../project_metadata.json", "basket.py", "src/../src/basket.py", "src/./basket.py", "../../../../../etc",
    ]),
)  # fmt: skip
_entries = st.one_of(
    st.tuples(_paths, st.just("file"), texts, st.sampled_from([0o644, 0o755, 0o600, 0o4755])),
    st.tuples(_paths, st.just("link"), _targets),
    st.tuples(_paths, st.sampled_from(["folder", "pipe"])),
).map(lambda drawn: Entry(*drawn))
projects = st.tuples(
    st.lists(_entries, max_size=12),
    st.sampled_from(["", "shop/", "PaletteFlow Studio/", f"{PROJECT}/"]),
).map(
    lambda drawn: [
        Entry(f"{drawn[1]}src/basket.py", "file", "def warm_start(): ...\n"),
        *(entry._replace(path=drawn[1] + entry.path) for entry in drawn[0]),
    ]
)
"""What lies in a project's folder; entries that contradict each other are left to `lay_out`."""


flags = st.sets(st.sampled_from(["--include_hints"]))
"""Choices of run_adapter.py."""


def lay_out(entries: list[Entry], folder: Path, outside: Path) -> None:
    """Make a project's folder; an entry whose place is taken, or that the file system refuses, is left out."""
    folder.mkdir(parents=True)
    for entry in entries:
        target = folder / entry.path
        with suppress(OSError, ValueError):
            target.parent.mkdir(parents=True, exist_ok=True)
            if entry.kind == "folder":
                target.mkdir(exist_ok=True)
            elif entry.kind == "link":
                target.symlink_to(entry.content.replace("{outside}", str(outside)))
            elif entry.kind == "pipe":
                os.mkfifo(target)
            elif not os.path.lexists(target):
                target.write_bytes(entry.content.encode())
                target.chmod(entry.mode)


_good_fields: dict[str, st.SearchStrategy[Any]] = {
    "difficulty": st.sampled_from(DIFFICULTIES),
    "title": texts,
    "description": texts,
    "context_files": st.lists(st.one_of(_paths.filter(str.isascii), texts), max_size=6),
    "context_length": st.integers(0, 10**7),
    "task_prompt": st.one_of(
        texts.map(lambda text: f"Find out why. {text}"), shapes.map(lambda value: ["Why?", value])
    ),
    "expected_approach": shapes,
    "ground_truth": st.one_of(texts.map(lambda text: TRUTH + text), shapes.map(lambda value: [TRUTH, value])),
    "evaluation_criteria": shapes,
    "metadata": st.fixed_dictionaries({}, optional={"files_count": st.integers(0, 99), "context_length": shapes}),
}
_bad_fields = st.dictionaries(
    st.sampled_from(
        [
            *_good_fields,
            "id",
            "source",
            "authors",
            "task_category",
            "language",
            "project_id",
            "files_count",
            "",
            "model_config",
        ]
    ),
    st.one_of(shapes, st.integers(-(10**25), 10**25)),
    max_size=2,
)


@st.composite
def scenarios(draw: st.DrawFn, project: str = PROJECT) -> tuple[str, bytes]:
    """Return (file name without .json, bytes) of a scenario: mostly good, sometimes with fields or bytes spoiled."""
    category = draw(st.sampled_from([CATEGORY, *CATEGORY_BONUSES]))
    name = f"{project}_{category}_{draw(st.sampled_from(DIFFICULTIES))}_{draw(st.integers(0, 3)):02}"
    record = {"id": name, "task_category": category, **draw(st.fixed_dictionaries(_good_fields))}
    for path in draw(st.sampled_from([[], ["src/basket.py"], ["shop/src/basket.py"], ["shop//src//basket.py/"]])):
        record["context_files"].append(path)
    if draw(st.integers(0, 4)) == 4:
        record.update(draw(_bad_fields))
        for field in draw(st.lists(st.sampled_from(sorted(record)), max_size=2)):
            record.pop(field, None)
    content = json.dumps(record, ensure_ascii=draw(st.booleans())).encode("utf-8", "surrogatepass")
    if draw(st.integers(0, 7)) == 7:
        content = draw(spoiled(content))
    return name, content


def spoiled(content: bytes) -> st.SearchStrategy[bytes]:
    """Return ways in which a JSON file arrives that is not quite one."""
    cut = st.integers(0, len(content))
    return st.one_of(
        st.just(b"\xef\xbb\xbf" + content),
        st.just(content.decode("utf-8", "replace").encode("utf-16")),
        cut.map(lambda end: content[:end]),
        cut.map(lambda at: content[:at] + b"\xff" + content[at:]),
        st.just(content[:-1] + b', "ground_truth": NaN}'),
        st.just(content[:-1] + b', "title": "\\ud800"}'),
        st.just(content[:-1] + b', "id": "second"}'),
        st.just(content[:-1] + b', "metadata": ' + b"[" * 2000 + b"]" * 2000 + b"}"),
        st.binary(max_size=40),
    )

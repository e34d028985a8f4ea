"""A made benchmark of the real one's size and shape: 8,000 scenarios of about 12.5 KB, projects of 90 files."""

from __future__ import annotations

import json
import random
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from locobench.dataset.catalog import load_languages
from select_tasks import CATEGORY_BONUSES

LANGUAGES = tuple(load_languages())

PROJECTS = 1000
WHOLE_PROJECTS = 125
"""Projects of full size (1 MB each). The others hold every eighth file of one of these, as hard links."""
FILES_PER_PROJECT = 90
SELECTION = "thousand.json"
_MADE = "made by version 6 of made_data.py\n"

_SUFFIXES = {
    "c": ".c", "cpp": ".cpp", "csharp": ".cs", "go": ".go", "java": ".java", "javascript": ".js", "php": ".php",
    "python": ".py", "rust": ".rs", "typescript": ".ts",
}  # fmt: skip
_DOMAINS = ("api_graphql", "web_social", "ml_nlp", "data_etl", "game_engine", "system_security", "fintech_trading")
_WORDS = """
anchor basket beacon bridge bucket cable carrier cell chain cluster column courier crate cursor depot digest docket
drain dune ember fabric ferry flume gauge glacier grove harbour hatch hinge ingot kiln ladder lattice ledger lever
lintel locket magnet marsh meadow metric mill mortar nectar nozzle orchard pallet parcel pebble pivot plank pulley
quarry quiver rafter reef relay rivet rudder saddle sensor shard shutter silo sluice spindle spruce stencil summit
tally tank tether ticket tiller token trellis tunnel turbine valve vault vessel wharf willow winch
"""
_STEMS = tuple(_WORDS.split())


def make(folder: Path) -> None:
    """Make the benchmark in `folder`/data and a selection of 1,000 tasks beside it, unless they are there whole.

    The tasks are eight each of the projects of full size. The same bytes every time.
    """
    stamp = folder / "made"
    if stamp.is_file() and stamp.read_text() == _MADE:
        return
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "data" / "output" / "scenarios").mkdir(parents=True)
    ids = [task_id for number in range(PROJECTS) for task_id in _make_project(folder / "data", number)]
    chosen = ids[: WHOLE_PROJECTS * len(CATEGORY_BONUSES)]
    (folder / SELECTION).write_text(json.dumps({"tasks": [{"id": task_id} for task_id in chosen]}))
    stamp.write_text(_MADE)


def whole_projects(folder: Path) -> list[Path]:
    """Return the folders of the projects of full size."""
    return [folder / "data" / "generated" / _project_name(number) for number in range(WHOLE_PROJECTS)]


def _make_project(data_dir: Path, number: int) -> Iterator[str]:
    """Write one project and its scenarios; yield their ids."""
    original = number % WHOLE_PROJECTS
    name = _project_name(number)
    folder = data_dir / "generated" / name
    whole = data_dir / "generated" / _project_name(original)
    if number == original:
        _write_files(folder, random.Random(number), _suffix(name))
    paths = sorted(path.relative_to(whole).as_posix() for path in whole.glob("*/**/*") if path.is_file())
    if number != original:
        for path in paths[::8]:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).hardlink_to(whole / path)
    for category in CATEGORY_BONUSES:
        record = _scenario(random.Random(f"{name} {category}"), name, category, paths)
        text = json.dumps(record, indent=2)
        (data_dir / "output" / "scenarios" / f"{record['id']}.json").write_text(text)
        yield record["id"]


def _project_name(number: int) -> str:
    original = number % WHOLE_PROJECTS
    language = LANGUAGES[original % len(LANGUAGES)]
    return f"{language}_{_DOMAINS[original % len(_DOMAINS)]}_expert_{number:03}"


def _suffix(project: str) -> str:
    return _SUFFIXES.get(project.partition("_")[0], ".txt")


def _write_files(folder: Path, rng: random.Random, suffix: str) -> None:
    """Write the project's code below one root folder, and the metadata beside it."""
    # As many different lines, names and places of names as a real project has: an index of fewer is made in no time.
    shared = [_name(rng) for _ in range(200)]
    stems = rng.sample([f"{a}_{b}" for a in _STEMS for b in _STEMS if a != b], FILES_PER_PROJECT)
    for index, stem in enumerate(stems):
        target = folder / "Wharfside" / "src" / f"module_{index % 12}" / f"{stem}{suffix}"
        target.parent.mkdir(parents=True, exist_ok=True)
        names = [_name(rng) for _ in range(35)] + rng.sample(shared, 30)
        text = "\n".join(_line(rng, names) for _ in range(rng.randint(60, 390)))
        # As in the real data, most files are wrapped in a fence and few end in a newline.
        target.write_text(f"```\n{text}\n```" if rng.random() < 0.69 else text)
    (folder / "project_metadata.json").write_text(json.dumps({"specification": {"unique_id": folder.name}}))


def _line(rng: random.Random, names: list[str]) -> str:
    one, two, three = rng.choices(names, k=3)
    return f"    {one}[{rng.randrange(99)}] = {two}({three}, {rng.randrange(9999)})"


def _name(rng: random.Random) -> str:
    return f"{rng.choice(_STEMS)}_{rng.choice(_STEMS)}"


def _prose(rng: random.Random, size: int) -> str:
    """Return about `size` characters of sentences with identifiers in them."""
    sentences: list[str] = []
    while size > 0:
        words = rng.choices(_STEMS, k=12)
        sentence = f"The {' '.join(words[:6])} calls `{_name(rng)}` before the {' '.join(words[6:])} is kept."
        sentences.append(sentence)
        size -= len(sentence) + 1
    return " ".join(sentences)


def _scenario(rng: random.Random, project: str, category: str, paths: list[str]) -> dict[str, Any]:
    """Return a scenario with the field sizes of the real ones; a fifth of the ground truths are objects."""
    files = rng.sample(paths, rng.randint(73, 88))
    code = "\n".join(_line(rng, [_name(rng) for _ in range(8)]) for _ in range(8))
    truth: Any = f"{_prose(rng, 2000)}\n\nSee `{files[0]}` and `{files[1]}`.\n\n```\n{code}\n```\n"
    if rng.random() < 0.2:
        culprits = [{"file_path": path, "description": _prose(rng, 200), "line_number": 7} for path in files[:2]]
        truth = {"root_cause_summary": _prose(rng, 1500), "culprit_files": culprits, "fixed_code": code.splitlines()}
    length = rng.randint(200_000, 1_100_000)
    return {
        "id": f"{project}_{category}_expert_01",
        "task_category": category,
        "difficulty": "expert",
        "title": _prose(rng, 60)[:70],
        "description": _prose(rng, 600),
        "context_files": files,
        "context_length": length,
        "task_prompt": _prose(rng, 1800),
        "expected_approach": _prose(rng, 1600),
        "ground_truth": truth,
        "evaluation_criteria": [_prose(rng, 150) for _ in range(6)],
        "metadata": {
            "context_length": length,
            "files_count": len(files),
            "information_coverage": rng.random(),
            "coverage_range": [0.8, 1.0],
            "generation_timestamp": "2025-01-01T00:00:00",
        },
    }


if __name__ == "__main__":
    make(Path(sys.argv[1]))

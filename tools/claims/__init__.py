"""Claims of the sample's ground truths that a program decides: `<scenario id>.toml` beside this file holds them.

Each says, in the truth's own words, what it shows, and runs in a copy of the project: in the project's own image, or
anywhere with a POSIX shell and Python (`image = false`). `python -m tools.claims [PART OF AN ID]` runs them.

A program does not retype the truth's code. `<<< FIRST ... LAST >>>` stands for the lines of that code from the
one that starts with FIRST to the next one that starts with LAST. `<<< FIRST ... >>>` goes to the end of the piece of
code, `<<< FIRST >>>` is one line.
"""

from __future__ import annotations

import io
import json
import re
import subprocess
import tarfile
import tempfile
import textwrap
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from adapter import LoCoBenchTask
from locobench.generate.project import Project, ProjectMapping
from locobench.harbor.task import TaskToml

CLAIMS = Path(__file__).resolve().parent
SAMPLE = CLAIMS.parents[1] / "data" / "sample"
# Only for what never ends: compilers share the processors with whatever else runs.
TIME_LIMIT_SECONDS = 600
_SCRIPT = ".claim.sh"
SNIPPET = re.compile(r"(^[ \t]*)?<<< (.+?)( \.\.\.(?: (.+?))?)? >>>", re.M)
_FENCED = re.compile(r"```\w*\n(.*?)\n?```", re.S)


@dataclass(frozen=True)
class Claim:
    """A statement about the code and the program that decides it."""

    scenario: str
    number: int
    says: str
    """Words of the ground truth."""
    run: str
    """A script for `sh -eu`, started in a copy of the project; it fails unless the claim is true."""
    files: dict[str, str] = field(default_factory=dict, hash=False)
    """What the script needs, by path in that copy; a file of the project may be replaced."""
    image: bool = True
    """Whether it needs the project's image."""

    def __str__(self) -> str:
        return f"{self.scenario}:{self.number}"

    def filled(self, code: list[list[str]] | None = None) -> Claim:
        """Return the claim with code in the place of each `<<< FIRST ... LAST >>>`: by default that of the truth.

        Raises:
            LookupError: the code has no such lines, or has them in two places that differ.
        """
        code = code_of(self.scenario) if code is None else code
        files = {path: _with_snippets(text, code) for path, text in self.files.items()}
        return replace(self, run=_with_snippets(self.run, code), files=files)


@dataclass(frozen=True)
class Outcome:
    """How a claim's program ended."""

    holds: bool
    output: str


def claims(part: str = "") -> list[Claim]:
    """Return the claims of the scenarios whose id holds `part`.

    Raises:
        TypeError: a file has a key that is no field of a claim.
    """
    found = []
    for path in sorted(path for path in CLAIMS.glob("*.toml") if part in path.stem):
        for number, entry in enumerate(tomllib.loads(path.read_text(encoding="utf-8"))["claim"], start=1):
            found.append(Claim(path.stem, number, **entry))
    return found


def truth_of(scenario: str) -> str:
    """Return a scenario's ground truth as text, its white space told as single blanks."""
    truth = _scenario(scenario)["ground_truth"]
    return " ".join((truth if isinstance(truth, str) else json.dumps(truth, ensure_ascii=False)).split())


def code_of(scenario: str) -> list[list[str]]:
    """Return the lines of each piece of code in a scenario's ground truth."""
    return list(code_in(_scenario(scenario)["ground_truth"]))


def code_in(truth: Any) -> Iterator[list[str]]:
    """Yield the lines of each piece of code in a ground truth: a fenced block or, in an object, a list of lines."""
    if isinstance(truth, str):
        yield from (block.split("\n") for block in _FENCED.findall(truth))
    elif isinstance(truth, dict):
        for key, value in truth.items():
            yield from [value] if key in ("buggy_code", "fixed_code") else code_in(value)
    elif isinstance(truth, list):
        for item in truth:
            yield from code_in(item)


def _with_snippets(text: str, code: list[list[str]]) -> str:
    def lines_of(found: re.Match[str]) -> str:
        return textwrap.indent(_snippet(code, found[2], found[4] or "", single=not found[3]), found[1] or "")

    return SNIPPET.sub(lines_of, text)


def _snippet(code: list[list[str]], first: str, last: str, *, single: bool = False) -> str:
    found: set[str] = set()
    for block in code:
        for start, line in enumerate(block):
            if line.lstrip().startswith(first):
                margin = line[: len(line) - len(line.lstrip())]
                lines = [below.removeprefix(margin) for below in block[start:]]
                ends = [n for n, below in enumerate(lines) if n and below.startswith(last)]
                if single:
                    ends = [0]
                elif not last:
                    ends = [len(lines) - 1]
                found.update("\n".join(lines[: end + 1]) for end in ends[:1])
    if len(found) != 1:
        raise LookupError(f"the truth's code holds {first!r}, up to {last!r}, {len(found)} times")
    return found.pop()


def _scenario(name: str) -> dict[str, Any]:
    path = SAMPLE / "output" / "scenarios" / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def _project(scenario: str) -> ProjectMapping:
    task = LoCoBenchTask.from_dict(_scenario(scenario))
    return Project.scan(SAMPLE / "generated" / task.project_id).mapping(task.context_files)


def project_of(scenario: str) -> dict[str, str]:
    """Return the text of each file of a scenario's project, by its path in the copy that programs run in."""
    with tempfile.TemporaryDirectory() as scratch:
        project = _project(scenario)
        project.copy_to(Path(scratch, "project"))
        return {path: Path(scratch, "project", path).read_bytes().decode() for path in project.paths}


def run_here(claim: Claim) -> Outcome:
    """Run a claim's program on this machine."""
    with tempfile.TemporaryDirectory() as scratch:
        project = Path(scratch, "project")
        _project(claim.scenario).copy_to(project)
        with tarfile.open(fileobj=io.BytesIO(_packed(claim))) as archive:
            archive.extractall(project, filter="data")
        return _outcome(["sh", "-eu", _SCRIPT], cwd=project)


def run_in_images(claims: list[Claim], images: dict[str, str], *, workers: int = 2) -> list[Outcome]:
    """Run claims' programs in containers without network, one container an image; `images` are by scenario.

    Args:
        workers: containers at a time; compilers use a core each.
    """
    groups: dict[str, list[Claim]] = {}
    for claim in claims:
        groups.setdefault(images[claim.scenario], []).append(claim)
    found: dict[Claim, Outcome] = {}
    with ThreadPoolExecutor(workers) as pool:
        for group in pool.map(_run_group, groups, groups.values()):
            found.update(group)
    return [found[claim] for claim in claims]


def _run_group(image: str, claims: list[Claim]) -> dict[Claim, Outcome]:
    started = subprocess.run(
        ["docker", "run", "--detach", "--rm", "--init", "--network", "none", image, "sleep", "infinity"],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    container = started.stdout.strip()
    fresh = "rm -rf /tmp/project && cp -r /app/project /tmp/project && cd /tmp/project && tar x"
    command = ["docker", "exec", "--interactive", container, "sh", "-c", f"{fresh} && exec sh -eu {_SCRIPT}"]
    try:
        return {claim: _outcome(command, given=_packed(claim)) for claim in claims}
    finally:
        subprocess.run(["docker", "kill", container], stdout=subprocess.DEVNULL, check=True)


def _packed(claim: Claim) -> bytes:
    claim, packed = claim.filled(), io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path, text in {**claim.files, _SCRIPT: claim.run}.items():
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode = len(text.encode()), 0o755
            archive.addfile(entry, io.BytesIO(text.encode()))
    return packed.getvalue()


def _outcome(command: list[str], *, cwd: Path | None = None, given: bytes = b"") -> Outcome:
    try:
        ended = subprocess.run(
            command, cwd=cwd, input=given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIME_LIMIT_SECONDS
        )
    except subprocess.TimeoutExpired:
        return Outcome(False, f"still ran after {TIME_LIMIT_SECONDS} s")
    return Outcome(ended.returncode == 0, ended.stdout.decode("utf-8", "replace"))


def built_images(tasks: Path, scenarios: set[str], *, workers: int = 2) -> dict[str, str]:
    """Build the images of tasks in the folder `tasks`, each once; return the image of each scenario.

    Args:
        workers: builds at a time.
    """
    # Tasks of one project have the same image.
    projects = {scenario: TaskToml.read(tasks / scenario).metadata.project_id for scenario in scenarios}
    contexts = {project: tasks / scenario / "environment" for scenario, project in projects.items()}
    with ThreadPoolExecutor(workers) as pool:
        images = dict(zip(contexts, pool.map(_build, contexts.values()), strict=True))
    return {scenario: images[project] for scenario, project in projects.items()}


def _build(context: Path) -> str:
    command = ["docker", "build", "--quiet", str(context)]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def images_of(chosen: list[Claim]) -> dict[str, str]:
    """Generate the sample's tasks and build the images that claims need; return them by scenario."""
    from tests.e2e.conftest import ENVIRONMENT_FILE, generate_sample

    scenarios = {claim.scenario for claim in chosen if claim.image}
    if not scenarios:
        return {}
    provided = dict(line.split("=", 1) for line in ENVIRONMENT_FILE.read_text().splitlines())
    with tempfile.TemporaryDirectory() as scratch:
        return built_images(generate_sample(Path(scratch), provided["BASE_IMAGE"]), scenarios)


def main(part: str) -> int:
    """Run the claims and print one line for each; return 1 when one does not hold."""
    chosen = claims(part)
    images = images_of(chosen)
    boxed = [claim for claim in chosen if claim.image]
    outcomes = dict(zip(boxed, run_in_images(boxed, images), strict=True))
    failed = 0
    for claim in chosen:
        outcome = outcomes[claim] if claim.image else run_here(claim)
        print(f"{'holds' if outcome.holds else 'FALSE'}  {claim}  {claim.says[:80]}", flush=True)
        if not outcome.holds:
            failed += 1
            print(outcome.output)
    print(f"{len(chosen)} claims, {failed} that do not hold")
    return 1 if failed else 0

"""Claims of the sample's ground truths that a program decides: `<scenario id>.toml` beside this file holds them.

Each says, in the truth's own words, what it shows, and runs in a copy of the project: in the project's own image, or
anywhere with a POSIX shell and Python (`image = false`). `python -m tools.claims [PART OF AN ID]` runs them.
"""

from __future__ import annotations

import io
import json
import subprocess
import tarfile
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adapter import LoCoBenchTask
from locobench.generate.project import Project
from locobench.smoke.task import read_task_folder

CLAIMS = Path(__file__).resolve().parent
SAMPLE = CLAIMS.parents[1] / "data" / "sample"
# Only for what never ends: compilers share the processors with whatever else runs.
TIME_LIMIT_SECONDS = 600
_SCRIPT = ".claim.sh"


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


def _scenario(name: str) -> dict[str, Any]:
    path = SAMPLE / "output" / "scenarios" / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def run_here(claim: Claim) -> Outcome:
    """Run a claim's program on this machine."""
    task = LoCoBenchTask.from_scenario(_scenario(claim.scenario), claim.scenario)
    folder = SAMPLE / "generated" / task.project_id
    with tempfile.TemporaryDirectory() as scratch:
        project = Path(scratch, "project")
        Project.scan(folder).mapping(task.context_files).copy_to(project)
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
    packed = io.BytesIO()
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
    digests = {scenario: read_task_folder(tasks / scenario).digest for scenario in scenarios}
    contexts = {digest: tasks / scenario / "environment" for scenario, digest in digests.items()}
    with ThreadPoolExecutor(workers) as pool:
        images = dict(zip(contexts, pool.map(_build, contexts.values()), strict=True))
    return {scenario: images[digest] for scenario, digest in digests.items()}


def _build(context: Path) -> str:
    command = ["docker", "build", "--quiet", str(context)]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def main(part: str) -> int:
    """Run the claims and print one line for each; return 1 when one does not hold."""
    from tests.e2e.conftest import ENVIRONMENT_FILE, generate_sample

    chosen = claims(part)
    images: dict[str, str] = {}
    if any(claim.image for claim in chosen):
        provided = dict(line.split("=", 1) for line in ENVIRONMENT_FILE.read_text().splitlines())
        with tempfile.TemporaryDirectory() as scratch:
            tasks = generate_sample(Path(scratch), provided["BASE_IMAGE"])
            images = built_images(tasks, {claim.scenario for claim in chosen if claim.image})
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

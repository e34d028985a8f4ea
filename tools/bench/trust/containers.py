"""Agents that attack from within a container of --sandbox docker, with the real claude CLI and engine."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Collection

from tests.e2e.test_sandbox import ESCAPES
from tests.support.attacks import ATTACKS
from tests.support.suite import REPOSITORY
from tests.support.without_work import IDEAS, INHERENT, SUITES
from tools.bench.trust.faults import Fault

TRIED = [name for name in IDEAS if name != INHERENT]
TESTS: dict[str, tuple[str, Collection[str]]] = {
    "ways to a grade without the work, from a container": ("test_no_attack_passes", ATTACKS),
    "ideas to pass hidden tests where the task names its `sources`": (
        "test_no_idea_passes_where_a_task_names_its_sources",
        TRIED,
    ),
    "honest solutions where the task names its `sources`": (
        "test_honest_work_passes_where_a_task_names_its_sources",
        SUITES,
    ),
    "ways out of a container, or to the end of the matrix": (
        "test_no_agent_reaches_the_machine_or_ends_more_than_its_own_run",
        ESCAPES,
    ),
}


def tried() -> list[Fault]:
    """Each test of the end-to-end ones, which tries all of its kind; a row each."""
    faults = []
    for name, (test, kind) in TESTS.items():
        fault = Fault(name)
        command = [sys.executable, "-m", "pytest", "-q", "-m", "e2e", f"tests/e2e/test_sandbox.py::{test}"]
        shown = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
        if shown.returncode == 0 and " passed" in shown.stdout:
            fault.tried = len(kind)
        elif " failed" in shown.stdout:
            fault.count([line for line in shown.stdout.splitlines() if line.startswith("E  ")], test)
        else:
            fault.note = "no engine, or tests/e2e/run.sh prepare was not run"
        faults.append(fault)
    return faults

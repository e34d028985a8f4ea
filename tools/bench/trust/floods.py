"""Memory of the harness under eight agents at a time that print and write without end."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

import psutil

from measure.results.files import load_results_file
from tests.support.fake_claude import RECORDED
from tests.support.suite import environment
from tools.bench.trust.faults import Fault, left_running, torn

MOST_BYTES = 400_000_000
WORKERS = 8
LONGEST_MATRIX = 300.0
EVERY = 0.05
"""Seconds from one look at the memory to the next."""

AGENT = r"""#!{python} -S
import json, os, sys, time
lines = open({recorded!r}, "rb").read().splitlines(keepends=True)
open("answer.txt", "w").write("right")
log = os.environ.get("HARNESS_INSTRUCTIONS_LOG")
out, end = sys.stdout.buffer, time.monotonic() + {seconds}
flood = {flood!r}
if flood not in ("stderr without end", "one line without end"):
    out.write(lines[0])
text = b"x" * 1_000_000
turn = dict(type="assistant", message=dict(id="m", content=[dict(type="text", text="x" * 50_000)]))
block = dict(type="tool_use", id="0", name="Read", input=dict(a=1))
call = dict(type="assistant", message=dict(id="m", content=[block]))
number = 0
while time.monotonic() < end:
    number += 1
    if flood == "stdout without end":
        out.write(text[:80] + b"\n")
    elif flood == "stderr without end":
        sys.stderr.buffer.write(text)
    elif flood == "one line without end":
        out.write(text)
    elif flood == "a transcript of long messages without end":
        out.write(json.dumps(turn).encode() + b"\n")
    elif flood == "a transcript of short messages without end":
        block["id"] = str(number)
        out.write(json.dumps(call).encode() + b"\n")
    elif flood == "a sparse file of 20 GB":
        with open("huge", "wb") as file:
            file.truncate(20_000_000_000)
        break
    elif flood == "20,000 files":
        for n in range(20_000):
            os.makedirs("d%d" % (n % 100), exist_ok=True)
            with open("d%d/f%d" % (n % 100, n), "w") as file:
                file.write("line of a file\n" * 300)
        break
    elif flood == "600 folders in each other":
        for n in range(600):
            os.mkdir("d")
            os.chdir("d")
        break
out.write(b"".join(lines[1:]))
out.flush()
"""

FLOODS = (
    "stdout without end",
    "stderr without end",
    "one line without end",
    "a transcript of long messages without end",
    "a transcript of short messages without end",
    "a sparse file of 20 GB",
    "20,000 files",
    "600 folders in each other",
)

TASK = """\
id: t{number}
category: coding
description: d
prompt: p
timeout_seconds: 20
assertions: [{{type: code, check: file_contains, file: answer.txt, pattern: right}}]
"""


def tried(place: Path, *, seconds: float = 8.0, workers: int = WORKERS) -> list[Fault]:
    """Each flood in a matrix of its own; `seconds` long each agent prints."""
    faults = []
    for flood in FLOODS:
        fault = Fault(f"{workers} agents at a time with {flood}")
        root = place / "suite"
        _make(root, flood, seconds, workers)
        peak, wrong = _run(root, workers)
        fault.note = f"at most {peak / 1e6:.0f} MB"
        fault.count(wrong, flood)
        shutil.rmtree(root, ignore_errors=True)
        subprocess.run(["rm", "-rf", str(root)], check=True)
        print(f"{fault.name}: {fault.note}", flush=True)
        faults.append(fault)
    return faults


def _make(root: Path, flood: str, seconds: float, runs: int) -> None:
    (root / "tmp").mkdir(parents=True)
    (root / "config.yaml").write_text("name: c\n")
    for number in range(runs):
        (root / f"t{number}.task.yaml").write_text(TASK.format(number=number))
    script = AGENT.format(
        python=sys.executable, recorded=str(RECORDED / "ok_stream.stdout"), seconds=seconds, flood=flood
    )
    (root / "claude").write_text(script)
    (root / "claude").chmod(0o755)


def _run(root: Path, workers: int) -> tuple[int, list[str]]:
    """Peak of the harness in bytes, and what went wrong."""
    command = [sys.executable, "-m", "harness", "matrix", "-t", "*.task.yaml", "-c", "config.yaml", "-r", "1"]
    command += ["-j", str(workers), "-o", "out.json", "--claude", str(root / "claude")]
    said = root / "said"
    with said.open("w") as output:
        process = subprocess.Popen(
            command,
            cwd=root,
            env=environment(TMPDIR=str(root / "tmp")),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
        peak, until = 0, time.monotonic() + LONGEST_MATRIX
        while process.poll() is None and time.monotonic() < until:
            peak = max(peak, own_memory(process.pid, str(root / "claude")))
            time.sleep(EVERY)
        process.kill()
        process.wait()
    wrong = [] if process.returncode in (0, 2) else [f"ended with {process.returncode}: {said.read_text()[-300:]}"]
    if peak > MOST_BYTES:
        wrong.append(f"{peak / 1e6:.0f} MB of memory")
    if "Traceback" in said.read_text():
        wrong.append(f"traceback: {said.read_text()[-300:]}")
    if not wrong:
        found = load_results_file(root / "out.json").results
        wrong += [] if len(found) == workers else [f"{len(found)} results of {workers}"]
    wrong += [f"still running: {line}" for line in left_running()] + torn(root)
    left = [path.name for path in (root / "tmp").iterdir()]
    return peak, wrong + [f"left on disk: {name}" for name in left]


def own_memory(pid: int, agent: str) -> int:
    """Bytes that the harness and its guardians hold, agents aside: proportional set sizes."""
    total = 0
    try:
        processes = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    except psutil.Error:
        return 0
    for process in processes:
        try:
            command = process.cmdline()
            is_guardian = any(part.endswith("guardian.py") for part in command)
            if process.pid == pid or is_guardian or agent not in command:
                total += _proportional(process.pid)
        except (psutil.Error, OSError):
            continue
    return total


def _proportional(pid: int) -> int:
    with open(f"/proc/{pid}/smaps_rollup", "rb") as file:  # noqa: PTH123
        for line in file:
            if line.startswith(b"Pss:"):
                return int(line.split()[1]) * 1024
    return 0

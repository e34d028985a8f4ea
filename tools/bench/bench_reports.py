"""How long do reports take: `compare` with HTML on 2 x 50 x 3 and 2 x 1,000 runs, opening a page of 500 tasks, and
reading 2,000 Harbor trials.

Prints one line a measurement with its bound; exit code 1 when one is not met. Run by `make bench`.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure.compare.comparison import compare_arms
from measure.report.html import render
from tests.support.made_jobs import made_job
from tests.support.made_results import made
from tests.support.results import results_json

COMPARE_SECONDS = 3.0
LARGE_COMPARE_SECONDS = 10.0
OPEN_SECONDS = 2.0
PAGE_BYTES = 2_000_000
READ_SECONDS = 5.0
READ_MEGABYTES = 300.0
READ = """
import resource, sys, time
from pathlib import Path
from measure.results.harbor import load_jobs
started = time.monotonic()
assert len(load_jobs(Path(sys.argv[1]))) == 2000
print(time.monotonic() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]


def compare_seconds(folder: Path, tasks: int, runs: int) -> float:
    """Reading, comparing and writing the page; best of three, since the first one fills caches."""
    for name, chance, seed in (("a", 0.7, 1), ("b", 0.85, 2)):
        (folder / f"{name}.json").write_text(results_json(made(tasks, runs, config=name, chance=chance, seed=seed)))
    seconds = []
    for _ in range(3):
        started = time.monotonic()
        subprocess.run(
            [
                sys.executable,
                "-m",
                "harness",
                "compare",
                folder / "a.json",
                folder / "b.json",
                "--html",
                folder / "c.html",
            ],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        seconds.append(time.monotonic() - started)
    return min(seconds)


def open_seconds(page: Path) -> float | None:
    """From the request to a complete list, best of three; None without playwright or Chromium."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    if CHROMIUM is None:
        return None
    seconds = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        for _ in range(3):
            tab = browser.new_page()
            started = time.monotonic()
            tab.goto(page.as_uri())
            tab.wait_for_selector("#runs output:text('the first 500 of 3000 of 3000 runs')")
            seconds.append(time.monotonic() - started)
            tab.close()
        browser.close()
    return min(seconds)


def reading(folder: Path) -> tuple[float, float]:
    """Seconds and peak MB of a process that reads a Harbor job of 2,000 trials."""
    job = made_job(folder, "job", tasks=500, runs=4, seed=1)
    done = subprocess.run([sys.executable, "-c", READ, job], check=True, capture_output=True, text=True)
    seconds, megabytes = map(float, done.stdout.split())
    return seconds, megabytes


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        measured = [
            ("compare 2 x 50 x 3 with HTML, s", compare_seconds(folder, 50, 3), COMPARE_SECONDS),
            ("compare 2 x 1,000 x 1 with HTML, s", compare_seconds(folder, 1000, 1), LARGE_COMPARE_SECONDS),
        ]
        seconds_read, megabytes = reading(folder)
        measured.append(("reading 2,000 Harbor trials, s", seconds_read, READ_SECONDS))
        measured.append(("its peak memory, MB", megabytes, READ_MEGABYTES))
        page = folder / "500.html"
        arms = [(name, made(500, 3, config=name, chance=0.7, seed=seed)) for seed, name in enumerate("ab")]
        page.write_text(render(arms, compare_arms(arms), "500 tasks"), encoding="utf-8")
        measured.append(("page of 500 tasks, MB", page.stat().st_size / 1e6, PAGE_BYTES / 1e6))
        seconds = open_seconds(page)
        if seconds is None:
            print("opening the page: not measured, playwright or chromium is missing")
        else:
            measured.append(("opening it in Chromium, s", seconds, OPEN_SECONDS))
    for what, value, bound in measured:
        print(f"{'ok  ' if value <= bound else 'FAIL'} {what}: {value:.2f} (bound {bound:g})")
    return int(any(value > bound for _, value, bound in measured))


if __name__ == "__main__":
    sys.exit(main())

"""What images with one toolchain save against one image with all of them, both built without a cache.

Cold means that no layer is in a cache; the packages come from whatever mirror the base image is set up for.
Every image is built once a round, and its seconds are the median of the rounds. The layers stay in Docker's build
cache, gigabytes a round; `docker builder prune` clears it. The promise: the median of the single images takes at most
half the time and 0.6 of the size of the one with everything. Exit code 1 when it is broken.
Usage: python -m tools.bench.images [--base_image IMAGE] [--rounds N]
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import tomli_w

from locobench.containers.container import EngineError
from locobench.containers.engine import Engine
from locobench.dataset.catalog import load_languages
from locobench.generate.make import render_dockerfile
from locobench.generate.options import Options
from locobench.shared.command_line import DONE, POSITIVE, SOME_FAILED, option, script
from locobench.shared.errors import InputError
from locobench.shared.installation import REPOSITORY

TAG = "bench-images"
SAMPLES = REPOSITORY / "data" / "sample" / "generated"
BUILD_TIMEOUT = 1800.0
MOST_TIME, MOST_SIZE = 0.5, 0.6
"""What the median image of one language may cost, as a part of the image with all of them."""


class Build(NamedTuple):
    """What the images of a language table cost."""

    cold: float
    """Seconds, no layer in a cache."""
    size: float
    """MB."""
    warm: float
    """Seconds, for another project on the same layers."""


def all_in_one(languages: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return a language table that installs what all of `languages` install, in one layer."""
    tables = languages.values()
    packages = {name for table in tables for name in table["packages"]}
    fallback = {name for table in tables for name in table.get("fallback", table["packages"])}
    return {"packages": sorted(packages), "fallback": sorted(fallback), "check": "true"}


def build(engine: Engine, name: str, table: dict[str, Any], base_image: str, run: str) -> tuple[float, int]:
    """Build the image of a language table around a sample project; return seconds and bytes.

    The first build with a `run` finds no layer in any cache, the next one all layers but that of the project.
    """
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        context = Path(folder)
        languages = context / "languages.toml"
        languages.write_text(tomli_w.dumps({name: table}))
        text = render_dockerfile(name, Options(base_image=base_image, languages=languages))
        shutil.copytree(min(SAMPLES.iterdir()), context / "project")
        # Another project each time: a warm build is that of another task of the same language.
        (context / "project" / "built-in").write_text(folder)
        (context / "Dockerfile").write_text(text.replace("\n", f"\nENV BENCH_RUN={run}\n", 1))
        try:
            return engine.build(context, TAG, timeout=BUILD_TIMEOUT)
        finally:
            subprocess.run(["docker", "image", "rm", TAG], capture_output=True)


def compare(engine: Engine, base_image: str, rounds: int) -> bool:
    """Print one line for the image with everything, one for each language, and what the ratios come to.

    Returns:
        Whether the promise was kept.
    """
    tables = {"all": all_in_one(load_languages()), **load_languages()}
    builds: dict[str, list[Build]] = {name: [] for name in tables}
    for turn, (name, table) in product(range(1, rounds + 1), tables.items()):
        run = uuid4().hex
        cold, size = build(engine, name, table, base_image, run)
        warm, _ = build(engine, name, table, base_image, run)
        print(f"round {turn}: {name} {cold:.1f} s", file=sys.stderr, flush=True)
        builds[name].append(Build(cold, size / 1e6, warm))
    medians = {name: Build(*map(statistics.median, zip(*runs, strict=True))) for name, runs in builds.items()}
    big = medians.pop("all")
    figures = {name: (*single, single.cold / big.cold, single.size / big.size) for name, single in medians.items()}
    columns = list(zip(*figures.values(), strict=True))
    figures["median"] = tuple(map(statistics.median, columns))
    figures["worst"] = tuple(map(max, columns))

    print(f"On {base_image}, {os.cpu_count()} CPUs, medians of {rounds} rounds; ratios are to the image with all.\n")
    print("| image            | cold s |     MB | warm s |  time |  size |")
    print("| ---              |    --- |    --- |    --- |   --- |   --- |")
    for name, values in {f"all {len(medians)}": (*big, 1.0, 1.0), **figures}.items():
        print("| {:<16} | {:>6.1f} | {:>6.0f} | {:>6.1f} | {:>5.2f} | {:>5.2f} |".format(name, *values))
    time_part, size_part = figures["median"][-2:]
    kept = time_part <= MOST_TIME and size_part <= MOST_SIZE
    verdict = "kept" if kept else "broken"
    print(f"\nPromised in the median: at most {MOST_TIME:.2f} of the time and {MOST_SIZE:.2f} of the size; {verdict}.")
    return kept


def _provided_base_image() -> str:
    """Return the base image that tests/e2e/engine.sh provided, else the one that tasks are generated with."""
    provided = REPOSITORY / ".cache" / "e2e" / "env"
    lines = provided.read_text().splitlines() if provided.is_file() else []
    return next(
        (line.removeprefix("BASE_IMAGE=") for line in lines if line.startswith("BASE_IMAGE=")), Options().base_image
    )


@script("Build one image with all toolchains and one for each language, cold, and compare them.")
@option("--base_image", default=_provided_base_image(), help="Debian or Ubuntu image to build on.")
@option("--rounds", type=POSITIVE, default=3, help="Times that each image is built.")
def main(base_image: str, rounds: int) -> int:
    try:
        kept = compare(Engine(), base_image, rounds)
    except EngineError as error:
        raise InputError(str(error), *error.tail.splitlines()) from None
    return DONE if kept else SOME_FAILED


if __name__ == "__main__":
    main()

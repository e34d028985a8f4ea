"""What do images with one toolchain save, against one image with all of them? Both built cold, side by side.

Cold means that no layer is in a cache; the packages come from whatever mirror the base image is set up for.
Usage: python -m tests.bench.images [--base_image IMAGE]
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import Any
from uuid import uuid4

from pipeline import cli
from pipeline.catalog import REPOSITORY, load_languages
from pipeline.containers import BuildError, Engine, EngineError, NoEngine
from pipeline.render import BASE_IMAGE, templates

TAG = "bench-images"
SAMPLES = REPOSITORY / "data" / "sample" / "generated"
BUILD_TIMEOUT = 1800.0


def all_in_one(languages: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return a language table that installs what all of `languages` install, in one layer."""
    tables = languages.values()
    packages = {name for table in tables for name in table["packages"]}
    fallback = {name for table in tables for name in table.get("fallback", table["packages"])}
    return {"packages": sorted(packages), "fallback": sorted(fallback)}


def build(engine: Engine, name: str, table: dict[str, Any], base_image: str, run: str) -> tuple[float, int]:
    """Build the image of a language table around a sample project; return seconds and bytes.

    The first build with a `run` finds no layer in any cache, the next one all layers but that of the project.
    """
    text = (
        templates()
        .get_template("environment/Dockerfile.j2")
        .render(base_image=base_image, language=name, packages=table["packages"], fallback=table.get("fallback"))
    )
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        context = Path(folder)
        shutil.copytree(min(SAMPLES.iterdir()), context / "project")
        # Another project each time: a warm build is that of another task of the same language.
        (context / "project" / "built-in").write_text(folder)
        (context / "Dockerfile").write_text(text.replace("\n", f"\nENV BENCH_RUN={run}\n", 1))
        try:
            return engine.build(context, TAG, timeout=BUILD_TIMEOUT)
        finally:
            subprocess.run(["docker", "image", "rm", TAG], capture_output=True)


def compare(engine: Engine, base_image: str) -> None:
    """Print one line for the image with everything, one for each language, and what the ratios come to."""
    languages = load_languages()
    line = "| {:<16} | {:>6} | {:>6} | {:>5} | {:>5} | {:>6} |".format
    big_time, big_size = build(engine, "all", all_in_one(languages), base_image, uuid4().hex)
    print(f"On {base_image}, {os.cpu_count()} CPUs; ratios are to the image with all toolchains.\n")
    print(line("image", "cold s", "MB", "time", "size", "warm s"))
    print(line("---", "---", "---", "---", "---", "---"))
    print(line(f"all {len(languages)}", f"{big_time:.1f}", f"{big_size / 1e6:.0f}", 1, 1, ""), flush=True)
    figures: list[tuple[float, float, float, float, float]] = []
    for name, table in languages.items():
        run = uuid4().hex
        cold, size = build(engine, name, table, base_image, run)
        warm, _ = build(engine, name, table, base_image, run)
        figures.append((cold, size / 1e6, cold / big_time, size / big_size, warm))
        print(_row(line, name, figures[-1]), flush=True)
    columns = list(zip(*figures, strict=True))
    print(_row(line, "median", [statistics.median(column) for column in columns]))
    print(_row(line, "worst", [max(column) for column in columns]))


def _row(line: Any, name: str, values: Any) -> str:
    cold, size, time_ratio, size_ratio, warm = values
    return str(line(name, f"{cold:.1f}", f"{size:.0f}", f"{time_ratio:.2f}", f"{size_ratio:.2f}", f"{warm:.1f}"))


def _provided_base_image() -> str:
    """Return the base image that tests/e2e/engine.sh provided, else the one that tasks are generated with."""
    provided = REPOSITORY / ".cache" / "e2e" / "env"
    lines = provided.read_text().splitlines() if provided.is_file() else []
    return next((line.removeprefix("BASE_IMAGE=") for line in lines if line.startswith("BASE_IMAGE=")), BASE_IMAGE)


def main(argv: list[str] | None) -> int:
    parser = cli.Parser("Build one image with all toolchains and one for each language, cold, and compare them.")
    parser.flag("base_image", default=_provided_base_image(), help="Debian or Ubuntu image to build on")
    options = parser.parse_args(argv)
    try:
        compare(Engine(), options.base_image)
    except BuildError as error:
        raise cli.InputError(f"{error}\n{error.tail}") from None
    except (EngineError, NoEngine) as error:
        raise cli.InputError(str(error)) from None
    return cli.DONE


if __name__ == "__main__":
    cli.run(main)

#!/usr/bin/env python3
"""What do images with one toolchain save, against one image with all of them? Both built cold, side by side.

Cold means without the layer cache; the packages come from whatever mirror the base image is set up for.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY))

from pipeline import cli  # noqa: E402
from pipeline.catalog import load_languages  # noqa: E402
from pipeline.containers import BuildError, Engine, EngineError, NoEngine  # noqa: E402
from pipeline.render import BASE_IMAGE, templates  # noqa: E402

TAG = "bench-images"
SAMPLES = REPOSITORY / "data" / "sample" / "generated"
BUILD_TIMEOUT = 1800.0


def all_in_one(languages: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return a language table that installs what all of `languages` install, in one layer."""
    tables = languages.values()
    packages = {name for table in tables for name in table["packages"]}
    fallback = {name for table in tables for name in table.get("fallback", table["packages"])}
    return {"packages": sorted(packages), "fallback": sorted(fallback)}


def build(engine: Engine, name: str, table: dict[str, Any], base_image: str, *, cold: bool) -> tuple[float, int]:
    """Build the image of a language table around a sample project; return seconds and bytes."""
    dockerfile = templates().get_template("environment/Dockerfile.j2")
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        context = Path(folder)
        shutil.copytree(min(SAMPLES.iterdir()), context / "project")
        # Another project each time: a warm build is that of another task of the same language.
        (context / "project" / "built-in").write_text(folder)
        text = dockerfile.render(
            base_image=base_image, language=name, packages=table["packages"], fallback=table.get("fallback")
        )
        (context / "Dockerfile").write_text(text)
        try:
            return engine.build(context, TAG, timeout=BUILD_TIMEOUT, no_cache=cold)
        finally:
            subprocess.run(["docker", "image", "rm", TAG], capture_output=True)


def compare(engine: Engine, base_image: str) -> None:
    """Print one line for the image with everything, one for each language, and what the ratios come to."""
    languages = load_languages()
    line = "| {:<16} | {:>6} | {:>6} | {:>5} | {:>5} | {:>6} |".format
    big_time, big_size = build(engine, "all", all_in_one(languages), base_image, cold=True)
    print(f"On {base_image}, {os.cpu_count()} CPUs; ratios are to the image with all toolchains.\n")
    print(line("image", "cold s", "MB", "time", "size", "warm s"))
    print(line("---", "---", "---", "---", "---", "---"))
    print(line(f"all {len(languages)}", f"{big_time:.1f}", f"{big_size / 1e6:.0f}", 1, 1, ""), flush=True)
    figures: list[tuple[float, float, float, float, float]] = []
    for name, table in languages.items():
        cold, size = build(engine, name, table, base_image, cold=True)
        warm, _ = build(engine, name, table, base_image, cold=False)
        figures.append((cold, size / 1e6, cold / big_time, size / big_size, warm))
        print(_row(line, name, figures[-1]), flush=True)
    columns = list(zip(*figures, strict=True))
    print(_row(line, "median", [statistics.median(column) for column in columns]))
    print(_row(line, "worst", [max(column) for column in columns]))


def _row(line: Any, name: str, values: Any) -> str:
    cold, size, time_ratio, size_ratio, warm = values
    return str(line(name, f"{cold:.1f}", f"{size:.0f}", f"{time_ratio:.2f}", f"{size_ratio:.2f}", f"{warm:.1f}"))


def main(argv: list[str] | None) -> int:
    parser = cli.Parser("Build one image with all toolchains and one for each language, cold, and compare them.")
    parser.flag("base_image", default=BASE_IMAGE, help="Debian or Ubuntu image to build on")
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

"""Build and push one image per language, from the layers that the language's tasks share."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from locobench.shared.errors import InputError
from locobench.smoke.containers import Engine
from locobench.smoke.task import TaskError, read_task_folder

# The first of these begins the task's own part of its Dockerfile.
_OWN = re.compile(r"^(?:COPY|WORKDIR) ", re.MULTILINE)


def common_layers(tasks: Iterable[Path]) -> dict[str, str]:
    """Return, per language, a Dockerfile of the layers that all its tasks begin with; broken tasks are skipped.

    Raises:
        InputError: tasks of one language begin differently, or start from a prebuilt image and so have no layers of
            their own to share.
    """
    found: dict[str, str] = {}
    for path in tasks:
        try:
            language = read_task_folder(path).language
        except TaskError:
            # The smoke test says what is wrong with it.
            continue
        text = (path / "environment" / "Dockerfile").read_text(encoding="utf-8")
        layers = _OWN.split(text, maxsplit=1)[0]
        if not re.search(r"^RUN ", layers, re.MULTILINE):
            raise InputError(
                f"{path}: starts from a prebuilt image, so there is nothing to build one of;"
                " generate the tasks without --language_image"
            )
        if found.setdefault(language, layers) != layers:
            raise InputError(f"{path}: has other layers than an earlier {language} task; generate all tasks anew")
    return found


def push_images(engine: Engine, layers: Mapping[str, str], pattern: str, *, timeout: float) -> Iterator[str]:
    """Build and push one image per language; yield each name once it is pushed.

    Args:
        layers: the result of `common_layers`.
        pattern: the images' name with `{language}` in it.
        timeout: seconds for one build or push.

    Raises:
        EngineError: one cannot be built or pushed.
    """
    for language, dockerfile in sorted(layers.items()):
        image = pattern.format(language=language)
        with tempfile.TemporaryDirectory() as context:
            Path(context, "Dockerfile").write_text(dockerfile, encoding="utf-8")
            engine.build(Path(context), image, timeout=timeout)
        # With the credentials of `docker login`.
        engine.ask("push", image, timeout=timeout, what=f"{image}: push")
        yield image

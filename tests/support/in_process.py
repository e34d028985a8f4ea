"""Commands run inside the test's own process: as `__main__`, but without the start of an interpreter each time."""

from __future__ import annotations

import contextlib
import io
import os
import runpy
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from subprocess import CompletedProcess
from unittest import mock


def run_in_process(
    target: Path | str, arguments: Sequence[str], *, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> CompletedProcess[str]:
    """Run a script (a path) or a package (its name) as `__main__` and return how it ended and what it printed.

    Only what a process of its own would show differently needs one: signals, umask, hash seed, what is imported.

    Args:
        target: what `python target` or `python -m target` would run.
        cwd: where it runs; default: where the test does.
        env: all variables that it sees; default: those of the test.
    """
    output, errors = io.StringIO(), io.StringIO()
    code: object = 0
    with (
        mock.patch.object(sys, "argv", [str(target), *arguments]),
        mock.patch.dict(os.environ, env or os.environ, clear=True),
        contextlib.chdir(cwd or Path.cwd()),
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(errors),
        _signals_kept(),
    ):
        try:
            if isinstance(target, Path):
                runpy.run_path(str(target), run_name="__main__")
            else:
                runpy.run_module(target, run_name="__main__", alter_sys=True)
        except SystemExit as ended:
            code = ended.code
    returncode = code if isinstance(code, int) else int(code is not None)
    return CompletedProcess([str(target), *arguments], returncode, output.getvalue(), errors.getvalue())


@contextlib.contextmanager
def _signals_kept() -> Iterator[None]:
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)

"""`python -m harness`: the command line of the harness."""

from __future__ import annotations

if __name__ == "__main__":
    import _signal  # type: ignore[import-not-found]  # `signal` takes a while to load

    handler = _signal.getsignal(_signal.SIGINT)
    if handler is _signal.default_int_handler:  # nothing has begun while modules load: end without a traceback
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    import locobench.shared.command_line  # noqa: F401 - says in one line if this Python is too old or lacks a library
    from harness.cli import cli

    _signal.signal(_signal.SIGINT, handler)
    cli(prog_name="python -m harness")

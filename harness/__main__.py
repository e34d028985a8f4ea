"""`python -m harness`: the command line of the harness."""

from __future__ import annotations

if __name__ == "__main__":
    import locobench.shared.command_line  # noqa: F401 - says in one line if this Python is too old or lacks a library
    from harness.cli import cli

    cli(prog_name="python -m harness")

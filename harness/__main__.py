"""`python -m harness`: the command line of the harness."""

from __future__ import annotations

from harness.cli import cli

if __name__ == "__main__":
    cli(prog_name="python -m harness")

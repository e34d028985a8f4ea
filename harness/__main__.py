"""`python -m harness`: the command line of the harness."""

from __future__ import annotations

import sys

from locobench.shared.installation import lacking, require_python

if __name__ == "__main__":
    require_python()
    try:
        from harness.cli import cli
    except ModuleNotFoundError as error:
        print(f"error: {lacking(error)}", file=sys.stderr)
        raise SystemExit(2) from None
    cli(prog_name="python -m harness")

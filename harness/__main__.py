"""`python -m harness`: the command line of the harness."""

from __future__ import annotations

import sys

if __name__ == "__main__":
    try:
        from harness.cli import cli
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] in ("harness", "locobench"):
            raise
        print(f"error: this Python lacks {error.name}; install the package with pip install -e .", file=sys.stderr)
        raise SystemExit(2) from None
    cli(prog_name="python -m harness")

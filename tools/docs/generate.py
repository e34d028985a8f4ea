"""`make docs`: writes the pages that come from the code, or with --check says whether they are up to date."""

from __future__ import annotations

import sys
from pathlib import Path

from locobench.shared.files import write_whole
from tools.docs.commands_page import commands_page
from tools.docs.formats_page import formats_page
from tools.docs.results_page import results_page

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    "docs/CLI_REFERENCE.md": commands_page,
    "docs/RESULTS.md": results_page,
    "docs/ANSWER_FORMATS.md": formats_page,
}


def outdated() -> dict[str, str]:
    """Return the pages whose file says something else, with what it should say."""
    pages = {name: make() for name, make in PAGES.items()}
    files = {name: ROOT / name for name in pages}
    return {
        name: text
        for name, text in pages.items()
        if not files[name].is_file() or files[name].read_text(encoding="utf-8") != text
    }


def main(arguments: list[str]) -> int:
    """Write or check; return 1 when --check finds a page that is not up to date."""
    found = outdated()
    for name, text in found.items():
        if arguments == ["--check"]:
            print(f"{name}: not up to date; run `make docs`", file=sys.stderr)
        else:
            write_whole(ROOT / name, text)
            print(f"{name}: written")
    return 1 if found and arguments == ["--check"] else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

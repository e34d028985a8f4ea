"""What derive_scenarios.py is measured on: `python -m tools.bench.made_code REPOSITORY FOLDER`.

FOLDER gets the Python files that are looked at, copies of them under new names that have 450,000 lines together, as a
bare repository, and for each of both a list of the files and the number of their lines.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from locobench.derive.code.build import build
from locobench.derive.code.languages import LANGUAGES
from locobench.derive.code.scope import Source, scopes, texts
from locobench.derive.code.tree import Repository

LANGUAGE = "python"
LARGE = 450_000
"""Lines that are looked at."""


def copies(files: dict[str, bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield the files again and again; each copy has names of its own for what it defines."""
    index = build(LANGUAGES[LANGUAGE], [Source(*one) for one in sorted(files.items())], mentions=False)
    defined = {symbol.name.encode() for symbol in index.symbols if not symbol.name.startswith("__")}
    made, number = 0, 0
    while made < LARGE:
        number += 1
        names = {name: b"%s_%d" % (name, number) for name in defined}
        for path, text in files.items():
            made += text.count(b"\n")
            yield f"part_{number}/{path}", renamed(text, names)


def renamed(text: bytes, names: dict[bytes, bytes]) -> bytes:
    """Return a text with other names."""
    return re.sub(rb"[A-Za-z_]\w*", lambda found: names.get(found[0], found[0]), text)


def write(files: dict[str, bytes], folder: Path) -> None:
    """Write files, their list and the number of their lines."""
    for path, text in files.items():
        (folder / "files" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "files" / path).write_bytes(text)
    (folder / "listed").write_text("".join(f"{path}\n" for path in files))
    (folder / "lines").write_text(str(sum(text.count(b"\n") for text in files.values())))


def main(repository: str, folder: str) -> None:
    """Make both."""
    real, made = Path(folder) / "real", Path(folder) / "made"
    shutil.rmtree(folder, ignore_errors=True)
    opened = Repository(Path(repository))
    scope = replace(scopes(opened.tree(opened.commit()))[0][LANGUAGE], beside=[])
    files = {one.path: one.text for one in texts(opened, scope) if not one.left_out}
    write(files, real)
    large = dict(copies(files))
    write(large, made)
    stream = [b"commit refs/heads/made\ncommitter a <a@b> 1600000000 +0000\ndata 5\nBegin\n"]
    stream += [b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(text), text) for path, text in large.items()]
    git = ("git", "-C", made / "made.git")
    subprocess.run(["git", "init", "-q", "--bare", made / "made.git"], check=True)
    subprocess.run([*git, "fast-import", "--quiet"], input=b"".join(stream), check=True)
    subprocess.run([*git, "symbolic-ref", "HEAD", "refs/heads/made"], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

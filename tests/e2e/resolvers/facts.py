"""What independent resolvers say about a repository: items, who uses them, supertypes and imports."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

HERE = Path(__file__).parent
CACHE = HERE.parents[2] / ".cache" / "e2e" / "resolvers"
MODULES = CACHE / "node_modules"
"""Where `npm install` put pyright, typescript and intelephense."""


MOST_FOR_PYRIGHT = 300
"""Files; above that pyright takes seconds for each symbol, and Python's own parser is asked instead."""


class Facts:
    """The facts that a resolver printed, one JSON list a line; items are `path: Qualified.name`.

    `item NAME KIND`, `use ITEM USER`, `base TYPE SUBTYPE`, `import FILE IMPORTER`.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._kinds: dict[str, str] = {}
        self._said: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        for line in lines:
            if line.startswith("["):
                self.add(*json.loads(line))

    def add(self, fact: str, one: str, other: str) -> None:
        """Take a fact."""
        if fact == "item":
            self._kinds[one] = other
        else:
            self._said[fact][one].add(other)

    def kind(self, item: str) -> str:
        """Return `function`, `method`, `constructor`, `class`, or "" for a top level."""
        return self._kinds.get(item, "")

    def users(self, item: str) -> set[str]:
        """Return the items in whose text a name means this one."""
        return self._said["use"][item]

    def subtypes(self, item: str) -> set[str]:
        """Return the types that directly extend or implement a type."""
        return self._said["base"][item]

    def importers(self, path: str) -> set[str]:
        """Return the files whose imports name a file."""
        return self._said["import"][path] - {path}


def tool(name: str) -> str | None:
    """Return the path of a program that `run.sh prepare` installed, or that the machine has."""
    own = CACHE / "bin" / name
    return str(own) if own.exists() else shutil.which(name)


def facts_of(language: str, root: Path) -> AbstractContextManager[Facts]:
    """Return what the language's resolver says about a checkout."""
    if language == "go":
        command = [str(tool("go")), "run", str(HERE / "uses.go"), str(HERE / "receiver.go"), str(root)]
    elif language in ("typescript", "javascript"):
        command = ["node", "--max-old-space-size=4000", str(HERE / "uses.js"), str(MODULES), str(root), language]
    elif language == "java":
        command = ["java", str(HERE / "Uses.java"), str(root)]
    else:
        from tests.e2e.resolvers.python_ast import AstFacts
        from tests.e2e.resolvers.served import Served, files_of

        files = files_of(language, root)
        if language == "python" and len(files) > MOST_FOR_PYRIGHT:
            return nullcontext(AstFacts(root, files))
        return Served(language, root, files)
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | {"GOFLAGS": "-mod=mod"})
    return nullcontext(Facts(done.stdout.splitlines()))

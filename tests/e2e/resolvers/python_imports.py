"""Which of these Python files import which? By the ast module and the import system's rules."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from importlib.util import resolve_name
from pathlib import Path


def named(root: Path, files: Sequence[str]) -> tuple[dict[tuple[str, str], str], dict[str, tuple[str, str]], list[str]]:
    """Return the file of each (top folder, module), the (top folder, module) of each file, and the top folders."""
    known: dict[tuple[str, str], str] = {}
    names: dict[str, tuple[str, str]] = {}
    for file in files:
        parts = list(Path(file).with_suffix("").parts)
        above = list(Path(file).parents)
        packages = [folder for folder in above if (root / folder / "__init__.py").exists() and folder != Path()]
        # A module's full name begins above the outermost package around it, whatever folders are in between.
        # Without one, its name may begin at each folder above it.
        for top in [packages[-1].parent] if packages else above:
            own = parts[len(top.parts) :]
            if own[-1] == "__init__":
                own = own[:-1]
            known.setdefault((str(top), ".".join(own)), file)
            names.setdefault(file, (str(top), ".".join(own)))
    return known, names, sorted({top for top, _ in known})


def imports(root: Path, files: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield (importer, imported) of files below `root`."""
    known, names, tops = named(root, files)
    for file in files:
        home, name = names[file]
        package = name if file.endswith("__init__.py") else name.rpartition(".")[0]
        for node in ast.walk(ast.parse((root / file).read_bytes())):
            wanted: list[tuple[str, list[str]]] = []
            if isinstance(node, ast.Import):
                wanted = [(alias.name, []) for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                base = node.module or ""
                if node.level:
                    try:
                        base = resolve_name("." * node.level + base, package) if package else base
                    except ImportError:  # beyond the top of its package
                        continue
                wanted = [(base, [alias.name for alias in node.names])]
            for module, taken in wanted:
                for place in [home, *tops]:
                    found = [known.get((place, one)) for one in (module, *(f"{module}.{one}" for one in taken))]
                    hits = [one for one in found if one and one != file]
                    if hits:
                        yield from ((file, one) for one in hits)
                        break

"""What an import leads to."""

from __future__ import annotations

from locobench.derive.code.index import Index
from locobench.derive.resolve.modules.base import FileModules as FileModules
from locobench.derive.resolve.modules.base import Modules
from locobench.derive.resolve.modules.python import PythonModules
from locobench.derive.resolve.modules.scripts import ScriptModules
from locobench.derive.resolve.modules.spaces import GoModules, SpaceModules


def modules_of(index: Index) -> Modules:
    """Return what resolves the imports of an index's language."""
    kinds: dict[str, type[Modules]] = {
        "python": PythonModules, "typescript": ScriptModules, "go": GoModules,
        "java": SpaceModules, "csharp": SpaceModules, "php": SpaceModules,
    }  # fmt: skip
    return kinds.get(index.language.name, Modules)(index)

"""The verifier that goes into every task, as a module: key and answer are cut by the same functions."""

from __future__ import annotations

import importlib.util
from functools import cache, lru_cache
from types import ModuleType

from locobench.dataset.catalog import TEMPLATES


@cache
def verifier() -> ModuleType:
    """Return templates/tests/verify.py as a module."""
    spec = importlib.util.spec_from_file_location("verify", TEMPLATES / "tests" / "verify.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    # Who makes a key asks one function after the other about the same few texts. What a task's words mean is forgotten
    # with the task, for a worker makes thousands of them.
    sizes = {"tokens": 8, "path_forms": 256, "member": 512, "symbol": 2048, "stems": 2048}
    for name, size in sizes.items():
        function = getattr(module, name)
        setattr(module, name, lru_cache(maxsize=size)(getattr(function, "__wrapped__", function)))
    return module

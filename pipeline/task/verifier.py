"""The verifier that goes into every task, as a module: key and answer are cut by the same functions."""

from __future__ import annotations

import importlib.util
from functools import cache, lru_cache
from types import ModuleType

from pipeline.dataset.catalog import TEMPLATES


@cache
def verifier() -> ModuleType:
    """Return templates/tests/verify.py as a module."""
    spec = importlib.util.spec_from_file_location("verify", TEMPLATES / "tests" / "verify.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    # Who makes a key asks one function after the other about the same few texts.
    module.tokens = lru_cache(maxsize=16)(module.tokens)  # type: ignore[attr-defined]
    return module

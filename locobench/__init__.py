"""LoCoBench-Agent scenarios as Harbor tasks: the library that the scripts call.

`from locobench import LoCoBenchAdapter, LoCoBenchLoader, LoCoBenchTask` gives the classes of adapter.py, which is at
the top of a checkout; the wheel carries it as data.
"""

from typing import Any

from locobench.shared.installation import IS_INSTALLED, require_python

require_python()

__all__ = ["LoCoBenchAdapter", "LoCoBenchLoader", "LoCoBenchTask"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module("locobench.scripts.adapter" if IS_INSTALLED else "adapter"), name)

"""LoCoBench-Agent scenarios as Harbor tasks: what `locobench/adapter.py` holds, by its name in a checkout."""

from locobench.adapter import (
    DatasetError,
    LoCoBenchAdapter,
    LoCoBenchLoader,
    LoCoBenchTask,
    Made,
    UnknownTaskError,
)

__all__ = [
    "DatasetError",
    "LoCoBenchAdapter",
    "LoCoBenchLoader",
    "LoCoBenchTask",
    "Made",
    "UnknownTaskError",
]

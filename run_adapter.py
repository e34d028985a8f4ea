#!/usr/bin/env python3
"""Generate Harbor task directories from the JSONL dataset and, usually, a selection of it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline import cli

if TYPE_CHECKING:
    from adapter import LoCoBenchAdapter, LoCoBenchLoader, Outcome


def build_parser() -> cli.Parser:
    parser = cli.Parser("Generate Harbor task directories; without --selected_tasks or --task_ids, for the whole dataset.")
    parser.flag("dataset_path", type=Path, default=cli.DATASET_FILE, help="JSONL written by extract_dataset.py")
    parser.flag("output_dir", type=Path, default=cli.TASKS_FOLDER, help="folder to write the task directories to")
    parser.flag("selected_tasks", type=Path, help="JSON written by select_tasks.py; only its tasks are generated")
    parser.flag("task_ids", nargs="+", metavar="ID", help="generate these tasks only")
    parser.flag("limit", type=cli.count, help="generate at most this many tasks")
    parser.flag("data_dir", type=Path, help="folder with generated/ and output/ (default: data/, else data/sample/)")
    parser.flag("base_image", default="ubuntu:24.04", help="Debian or Ubuntu image that the tasks' images start from")
    parser.flag("overwrite", action="store_true", help="write tasks again even when nothing changed")
    parser.flag("include_hints", action="store_true", help="put expected approach and criteria into the instruction")
    parser.flag("quiet", action="store_true", help="no progress and no summary")
    return parser


def read_selection(path: Path) -> list[str]:
    """Return the ids of a selection, in its order.

    Raises:
        InputError: not a file that select_tasks.py wrote.
    """
    try:
        return [str(task["id"]) for task in json.loads(path.read_bytes())["tasks"]]
    except OSError as error:
        raise cli.InputError(f"{path}: cannot be read: {error.strerror}; run select_tasks.py first") from None
    except (ValueError, KeyError, TypeError) as error:
        raise cli.InputError(f"{path}: not a selection ({error!r}); write it again with select_tasks.py") from None

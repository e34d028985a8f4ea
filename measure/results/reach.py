"""How an answer was reached: which files an agent saw, in which order, and how much text it read for it."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from locobench.harbor.agent_log import Call
from locobench.harbor.record import TrialRecord
from measure.records import Reach

MENTION = re.compile(r"[\w@+.~-]+(?:[/\\][\w@+.~-]+)*")
"""A path, or the name of a file, in the text of a tool call."""
_ESCAPED = re.compile(r"\\([\\nrt])")

WORKING_FOLDER, ANSWER = "/app/project/", "/app/solution.md"
"""Where a task's container has the code, and where the agent writes its answer."""


class Files:
    """The files of a code base, found by any ending of their paths that only one of them has."""

    def __init__(self, paths: Iterable[str]) -> None:
        """`paths`: relative to the code base, with forward slashes."""
        endings: defaultdict[str, list[str]] = defaultdict(list)
        for path in paths:
            parts = path.split("/")
            for start in range(len(parts)):
                endings["/".join(parts[start:])].append(path)
        self._by_ending = {ending: found[0] for ending, found in endings.items() if len(found) == 1}
        self._whole = {path for found in endings.values() for path in found}

    def mentioned_in(self, text: str) -> set[str]:
        """Return the files that a text names: by path, with folders before it or not, or by an ending of the path.

        Servers put a repository's name before a path; `core/parser.py` is such an ending.
        """
        found = set()
        # In JSON, the letter of a line end would begin the next path.
        plain = _ESCAPED.sub(lambda match: "\\" if match[1] == "\\" else " ", text) if "\\" in text else ""
        for mention in set(MENTION.findall(f"{text}\n{plain}".replace(WORKING_FOLDER, ""))):
            path = mention.replace("\\", "/").removeprefix("./").rstrip(".").lstrip("/")
            parts = path.split("/")
            whole = next((end for n in range(len(parts)) if (end := "/".join(parts[n:])) in self._whole), "")
            # A name alone, behind folders that are none of the code base's, names no file of it.
            if whole and (whole == path or "/" in whole):
                found.add(whole)
            elif "." in path and path in self._by_ending:
                found.add(self._by_ending[path])
        return found


def reach_of(calls: Sequence[Call], key: Iterable[str], files: Iterable[str]) -> Reach | None:
    """Work out how an agent reached the files of a task's key; None if a call has no recorded text, or the key no file.

    A file is seen once its path is in what a tool returned, or in the arguments of a call that did not fail. `calls`
    are in order, those of subagents included; without the code base's `files`, `precision` is not known.
    """
    wanted, all_files = frozenset(key), frozenset(files)
    if not wanted or (calls and all(call.output is None and call.error is None for call in calls)):
        return None
    known = Files(all_files | wanted)
    seen: set[str] = set()
    found_at: list[int] = []
    size = 0
    for number, call in enumerate(calls, 1):
        returned = call.error or call.output or ""
        size += len(returned.encode())
        asked = "" if call.error else json.dumps(call.arguments, ensure_ascii=False)
        if ANSWER in asked:  # to write a path down is not to see the file
            asked = ""
        seen |= known.mentioned_in(f"{asked}\n{returned}")
        found_at += [number] * (len(seen & wanted) - len(found_at))
    return Reach(
        calls_to_first=found_at[0] if found_at else None,
        found_at=tuple(found_at),
        recall=len(found_at) / len(wanted),
        precision=len(seen & wanted) / len(seen) if seen and all_files else None,
        bytes_read=size,
    )


def reach_in(trial: TrialRecord) -> Reach | None:
    """Work out how a trial's agent reached the files of the key.

    None if the key names no file, the task is not there as it ran, or no text of a call is recorded.
    """
    if trial.task is None or not (trial.actions.turns or trial.actions.calls):
        return None
    return reach_of(trial.actions.calls, trial.task.key, trial.task.code)

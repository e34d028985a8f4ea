#!/usr/bin/env python3
"""Answer the tasks that `-a agent:ByHand --ak desk=DESK` puts into the folder DESK.

desk.py DESK next [SECONDS]              take the next task: prints its name and instruction; waits up to SECONDS (60)
desk.py DESK run TASK 'COMMAND'          run a command in the task's container
desk.py DESK call TASK SERVER TOOL JSON  call a tool of an MCP server
desk.py DESK answer TASK < FILE          hand in the answer, which ends the task
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

POLL = 0.2


def main(arguments: list[str]) -> int:
    if len(arguments) < 2:
        asked = arguments in (["-h"], ["--help"])
        print(__doc__, file=sys.stdout if asked else sys.stderr)
        return 0 if asked else 2
    try:
        desk, verb, *rest = arguments
        place = Path(desk)
        if verb == "next":
            return take(place, float(*rest or ("60",)))
        task, *rest = rest
        match verb, rest:
            case "run", [command]:
                request: dict[str, Any] = {"command": command}
            case "call", [server, tool, given]:
                request = {"server": server, "tool": tool, "arguments": json.loads(given)}
            case "answer", []:
                request = {"answer": sys.stdin.read()}
            case _:
                raise ValueError(f"no such command: {verb} {' '.join(rest)}")
    except ValueError as error:
        print(f"{error}\n\n{__doc__}", file=sys.stderr)
        return 2
    return send(place / task, request)


def take(desk: Path, seconds: float) -> int:
    """Take the first task that nobody has taken; 1 if none came in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for instruction in sorted(desk.glob("*/instruction.md")):
            place = instruction.parent
            if (place / "closed").exists():
                continue
            try:
                (place / "taken").touch(exist_ok=False)
            except FileExistsError:
                continue
            print(f"TASK {place.name}\n\n{instruction.read_text(encoding='utf-8')}")
            return 0
        time.sleep(POLL)
    print("no task is waiting", file=sys.stderr)
    return 1


def send(place: Path, request: dict[str, Any]) -> int:
    """Write a request and print the reply."""
    number = len(list(place.glob("*.request"))) + 1
    part = place / f".{number}"
    part.write_text(json.dumps(request), encoding="utf-8")
    part.rename(place / f"{number}.request")
    reply = place / f"{number}.reply"
    while not reply.exists():
        if (place / "closed").exists() and not reply.exists():
            print("the task is closed: handed in, or out of time", file=sys.stderr)
            return 1
        time.sleep(POLL)
    print(reply.read_text(encoding="utf-8"))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

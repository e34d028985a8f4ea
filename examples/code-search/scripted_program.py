#!/usr/bin/env python3
"""What the scripted agent does in its container: `scripted_program.py SERVERS INSTRUCTION TRAJECTORY ANSWER`.

It has no model and opens no file of the project. All that it says about the code it got from the server, so without one
it can only repeat the task. Standard library only, for the image has nothing else (Python 3.10 and newer).
"""

from __future__ import annotations

import json
import re
import sys
import time
import urllib.request
from collections import defaultdict
from pathlib import Path
from typing import Any

SERVER = "code-search"

SENTENCES = (
    "Start reading `{file}`, where {names} carry most of what the question touches.",
    "Whoever changes `{file}` meets {names} next, so their contract deserves a test beforehand.",
    "The search also led into `{file}`: {names} sit close together there and probably share state.",
    "A reviewer would open `{file}` afterwards because {names} look like the boundary towards callers.",
    "Nothing should be renamed in `{file}` unless {names} keep their meaning for everyone downstream.",
    "Between these, `{file}` holds {names}, whose order of execution decides which symptom appears.",
    "Suspicion falls upon `{file}` too; {names} were found on neighbouring rows.",
    "Finally `{file}` brings {names}, a smaller matter that rounds off this picture.",
)
"""Each is used once: the verifier counts a form that is filled in again and again only the first time."""

# What is searched for besides the task's own words: calls of names of several parts, and prose.
CALL = r"\b([a-z]+(_[a-z]+)+|[a-z]+([A-Z][a-z]+)+|[A-Z][a-z]+([A-Z][a-z]+)+)\("
COMMENT = r"^\s*(//+|/?\*+|#+|--)?\s*[A-Za-z`]+( [\w`,.\-()]+){5,}"
NAME = re.compile(r"[A-Za-z]+(?:_[a-z]+)+|[A-Za-z][a-z]+(?:[A-Z][a-z]+)+")
REMARK = re.compile(COMMENT)


class Server:
    """An MCP server over streamable HTTP without sessions; it keeps what was called for the trajectory."""

    def __init__(self, name: str, url: str) -> None:
        self.name, self.url = name, url
        self.calls: list[dict[str, Any]] = []

    def call(self, tool: str, **arguments: Any) -> str:
        """Call a tool and return its text."""
        asked = {"name": tool, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": len(self.calls) + 1, "method": "tools/call", "params": asked}
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        with urllib.request.urlopen(
            urllib.request.Request(self.url, json.dumps(message).encode(), headers), timeout=30
        ) as response:
            reply = json.load(response)
        if "error" in reply:
            raise RuntimeError(f"{self.url}: {tool}: {reply['error']}")
        text = "\n".join(part["text"] for part in reply["result"]["content"])
        self.calls.append({"name": f"mcp__{self.name}__{tool}", "arguments": arguments, "text": text})
        return "" if reply["result"].get("isError") else text


def find_repository(server: Server, files: list[str]) -> str:
    """Return the repository that has all of the files that the task names."""
    left: set[str] = set()
    for path in files[:12]:
        found = {line.split()[0] for line in server.call("list_repos", path=path).splitlines()}
        left = left & found if left & found else found
        if len(left) == 1:
            break
    return min(left) if left else ""


def find_code(server: Server, repository: str, task: str, files: list[str]) -> dict[str, list[str]]:
    """Return matching lines by file: of the words that the task sets in code, and of what looks like a call."""
    words = dict.fromkeys(re.findall(r"`(?:\w+\s)?(\w{3,})[^`/.]*`", task))
    patterns = [*(rf"\b{word}\b" for word in list(words)[:6]), CALL, COMMENT]
    lines: dict[str, list[str]] = defaultdict(list)
    for pattern in patterns:
        for match in server.call("search", pattern=pattern, repo=repository, limit=120).splitlines()[1:]:
            place, _, text = match.partition(":")
            if place.removeprefix(f"{repository}/") in files:
                lines[place.removeprefix(f"{repository}/")].append(text.partition(":")[2].strip())
    return lines


def answer(task: str, lines: dict[str, list[str]]) -> str:
    """Return the answer: what the task says, and sentences about what was found, closest to the task's words first."""
    title = next((line[2:] for line in task.splitlines() if line.startswith("# ")), "The task")
    text = [f"# {title}", "", task.partition("# ")[2].partition("## ")[0].partition("\n")[2].strip(), ""]
    words = set(re.findall(r"[a-z]{4,}", task.lower()))

    def shared(found: str) -> int:
        return len(words & set(re.findall(r"[a-z]{4,}", re.sub(r"([a-z])([A-Z])", r"\1 \2", found).lower())))

    said: set[str] = set()
    ranked = sorted(lines.items(), key=lambda item: -sum(map(shared, item[1])))
    for sentence, (file, found) in zip(SENTENCES, ranked, strict=False):
        names = [name for line in found if not REMARK.match(line) for name in NAME.findall(line)]
        fresh = [name for name in dict.fromkeys(names) if name not in said and name not in task]
        fresh = sorted(fresh, key=shared, reverse=True)[:3]
        said.update(fresh)
        if fresh:
            named = ", ".join(f"`{name}`" for name in fresh)
            text += [sentence.format(file=file, names=named), ""]
    quotes = [line for found in lines.values() for line in found if len(line) > 30 and not REMARK.match(line)][:4]
    if quotes:
        text += ["```", *quotes, "```"]
    return "\n".join(text) + "\n"


DEFINITION = r"^\s*(export |pub(\([a-z]+\))? |async |static )*(def|func|function|fn|class)\b"
DEFINED = re.compile(r"\b(?:def|func|function|fn|class)\s+(?:\([^)]*\)\s*)?([A-Za-z_]\w*)")


def exact_answer(server: Server, task: str) -> str:
    """Return the answer to a question that wants `path: name` lines: two steps of searches for names.

    A hit counts to the definition that stands closest above it; nothing is known of scopes.
    """
    asked = re.search(r"`([^`]+)` \(`([^`]+)`\)", task)
    if asked is None:
        return "```answer\n```\n"
    name, path = asked[1].rpartition(".")[2], asked[2]
    repository = find_repository(server, [path])
    defined: dict[str, list[tuple[int, str]]] = defaultdict(list)

    def users(one: str) -> list[tuple[str, str]]:
        """Return file and definition around each hit of a name; a file's definitions are asked for once."""
        found = []
        for file, number, text in _hits(server, repository, rf"\b{re.escape(one)}\b"):
            if file not in defined:
                for line, _, shown in ((n, f, s) for f, n, s in _hits(server, repository, DEFINITION, file)):
                    if named := DEFINED.search(shown):
                        defined[file].append((line, named[1]))
            above = [user for line, user in sorted(defined[file]) if line <= number]
            if above and above[-1] != one and not re.match(r"\s*(from|import|use|//|#)", text):
                found.append((file, above[-1]))
        return found

    items: dict[str, None] = {}
    names, done = [name], {name}
    for _ in range(2):
        fresh: list[str] = []
        for file, user in (found for one in names for found in users(one)):
            items[f"{file}: {user}"] = None
            fresh.append(user)
        names = [one for one in dict.fromkeys(fresh) if one not in done]
        done.update(names)
    return "```answer\n" + "\n".join(items) + "\n```\n"


def _hits(server: Server, repository: str, pattern: str, file: str = "") -> list[tuple[str, int, str]]:
    """Return file, line and text of what a search finds."""
    found = []
    where = {"path": file} if file else {}
    for match in server.call("search", pattern=pattern, repo=repository, limit=200, **where).splitlines():
        place, _, rest = match.partition(":")
        number, _, text = rest.partition(":")
        if number.strip().isdigit():
            found.append((place.removeprefix(f"{repository}/"), int(number), text.removeprefix(" ")))
    return found


def trajectory(task: str, calls: list[dict[str, Any]], said: str) -> dict[str, Any]:
    """Return what was done in the form that Harbor keeps (ATIF): the task, a step for each call, the answer."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    steps: list[dict[str, Any]] = [{"step_id": 1, "timestamp": now, "source": "user", "message": task}]
    for number, call in enumerate(calls, 1):
        made = {"tool_call_id": f"call_{number}", "function_name": call["name"], "arguments": call["arguments"]}
        got = {"source_call_id": f"call_{number}", "content": call["text"]}
        step = {"step_id": number + 1, "timestamp": now, "source": "agent", "message": ""}
        steps.append({**step, "tool_calls": [made], "observation": {"results": [got]}})
    steps.append({"step_id": len(steps) + 1, "timestamp": now, "source": "agent", "message": said})
    agent = {"name": "scripted", "version": "1.0.0"}
    return {"schema_version": "ATIF-v1.6", "session_id": "scripted", "agent": agent, "steps": steps}


def main() -> None:
    servers, instruction, trajectory_file, answer_file = map(Path, sys.argv[1:])
    task = instruction.read_text(encoding="utf-8")
    files = re.findall(r"^- `(.+)`$", task.partition("## Files")[2], re.MULTILINE)
    urls = {server["name"]: server["url"] for server in json.loads(servers.read_text(encoding="utf-8"))}
    calls: list[dict[str, Any]] = []
    lines: dict[str, list[str]] = {}
    is_exact = "labelled `answer`" in task
    said = ""
    if SERVER in urls:
        server = Server(SERVER, urls[SERVER])
        if is_exact:
            said = exact_answer(server, task)
        else:
            lines = find_code(server, find_repository(server, files), task, files)
        calls = server.calls
    if not is_exact:
        said = answer(task, lines)
    answer_file.write_text(said, encoding="utf-8")
    trajectory_file.write_text(json.dumps(trajectory(task, calls, said)), encoding="utf-8")


if __name__ == "__main__":
    main()

"""Tools and skills by one name, whichever agent called them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from locobench.harbor.agent_log import Call

FORMS = ("mcp__{}__", "mcp_{}_", "{}__", "{}.", "{}/", "{}:")
"""How agents put a server's name in front of its tool's; no built-in tool begins so."""
OWN_FORMS = {"copilot-cli": "{}-", **dict.fromkeys(("mimo", "opencode", "opencode-v2", "pi", "vibe"), "{}_")}
"""Forms of some agents, with which a built-in tool may begin, too."""

SURE = {"claude-code", "codex", "copilot-cli", "cursor-cli", "gemini-cli", "goose", "opencode", "qwen-coder"}
"""Agents whose files were read by which it is known that they always name the server."""

BUILT_IN = {"search_replace", "web_search", "web_fetch", "code_search", "file_search", "read_file", "write_file"}
"""Tools of agents that join server and tool by one underscore; a server may be called `search`, too."""

SERVER_KEYS = ("server", "server_name", "serverName", "providerIdentifier", "mcp_server")
TOOL_KEYS = ("toolName", "tool_name", "tool", "name")
"""Arguments that name a server and its tool, for agents that call all of them through one tool of their own."""

SKILL_TOOLS = {"skill", "activate_skill", "load_skill", "use_skill", "invoke_skill"}
SKILL_FILE = re.compile(r"skills/([^/\s\"']+)/")
"""Agents without such a tool read the skill's files."""


def with_one_name(calls: Iterable[Call], agent: str, servers: Sequence[str], logged: Sequence[Call]) -> list[Call]:
    """Return the calls with one name for each MCP tool, whatever agents call it, and the skills that they used.

    `logged` are the calls of MCP tools in the agent's own log, in the order they were made.
    """
    waiting = list(logged)
    found = []
    for call in calls:
        server, tool = _server_and_tool(call, agent, servers)
        name = f"mcp__{server}__{tool}" if server else call.name
        own = next((c for c in waiting if c.name == name or (not server and c.name.endswith(f"__{name}"))), None)
        if own:
            waiting.remove(own)
            name, call = own.name, replace(call, error=call.error or own.error)
        found.append(replace(call, name=name, skill=_skill(call)))
    return found


def _server_and_tool(call: Call, agent: str, servers: Sequence[str]) -> tuple[str, str]:
    arguments = call.arguments if isinstance(call.arguments, Mapping) else {}
    told = [_folded(str(arguments[key])) for key in SERVER_KEYS if arguments.get(key)]
    for server in servers if told else ():
        if _folded(server) in told:
            return server, next((str(arguments[k]) for k in TOOL_KEYS if arguments.get(k)), call.name)
    name = call.name
    if name in ("mcp", "mcpToolCall", "use_mcp_tool", "invoke_tool"):
        name = next((str(arguments[k]) for k in TOOL_KEYS if arguments.get(k)), name)
    for server in sorted(servers, key=len, reverse=True):
        for form in (*FORMS, OWN_FORMS.get(agent, FORMS[0])):
            before, after = form.split("{}")
            end = len(before) + len(server)
            called = name.startswith(before) and _folded(name[len(before) : end]) == _folded(server)
            if called and name[end:].startswith(after) and name[end:] != after and name not in BUILT_IN:
                return server, name[end + len(after) :]
    return "", ""


def _folded(name: str) -> str:
    """Return a name as agents write it, which replace characters that the model's service does not take."""
    return re.sub(r"[^a-z0-9]", "_", name.lower())


def _skill(call: Call) -> str:
    arguments = call.arguments if isinstance(call.arguments, Mapping) else {"": call.arguments}
    texts = [value for value in arguments.values() if isinstance(value, str)]
    if call.name.lower() in SKILL_TOOLS and texts:
        return str(arguments.get("skill") or arguments.get("name") or texts[0]).rpartition(":")[2]
    found = next(filter(None, map(SKILL_FILE.search, texts)), None)
    return found[1] if found else ""

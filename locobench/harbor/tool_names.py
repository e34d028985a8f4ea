"""Tools and skills by one name, whichever agent called them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from locobench.harbor.agent_log import Call

OWN_SEPARATORS = {"copilot-cli": "-", **dict.fromkeys(("mimo", "opencode", "opencode-v2", "pi", "vibe"), "_")}
"""What some agents put between a server's name and its tool's; a built-in tool may have it in its name, too."""

SURE = {"claude-code", "codex", "copilot-cli", "cursor-cli", "gemini-cli", "goose", "opencode", "qwen-coder"}
"""Agents whose files were read by which it is known that they always name the server."""

BUILT_IN = {"search_replace", "web_search", "web_fetch", "code_search", "file_search", "read_file", "write_file"}
"""Tools of agents that join server and tool by one underscore; a server may be called `search`, too."""

SERVER_KEYS = ("server", "server_name", "serverName", "providerIdentifier", "mcp_server")
TOOL_KEYS = ("toolName", "tool_name", "tool", "name")
"""Arguments that name a server and its tool, for agents that call all of them through one tool of their own."""
CALLS_ANY = {"mcp", "mcpToolCall", "use_mcp_tool", "invoke_tool"}
"""Names of such tools."""

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
    told = [str(arguments[key]) for key in SERVER_KEYS if arguments.get(key)]
    tool = next((str(arguments[key]) for key in TOOL_KEYS if arguments.get(key)), call.name)
    name = tool if call.name in CALLS_ANY else call.name
    for server in sorted(servers, key=len, reverse=True):
        # Agents replace characters that the model's service does not take.
        own = re.sub(r"[^a-z0-9]", "[^a-z0-9]", server.lower())
        if any(re.fullmatch(own, one, re.IGNORECASE) for one in told):
            return server, tool
        separators = rf"__|[./:{OWN_SEPARATORS.get(agent, '')}]"
        found = re.fullmatch(rf"(?:mcp__{own}__|mcp_{own}_|{own}(?:{separators}))(.+)", name, re.IGNORECASE)
        if found and name not in BUILT_IN:
            return server, found[1]
    return "", ""


def _skill(call: Call) -> str:
    arguments = call.arguments if isinstance(call.arguments, Mapping) else {"": call.arguments}
    texts = [value for value in arguments.values() if isinstance(value, str)]
    if call.name.lower() in SKILL_TOOLS and texts:
        return str(arguments.get("skill") or arguments.get("name") or texts[0]).rpartition(":")[2]
    found = next(filter(None, map(SKILL_FILE.search, texts)), None)
    return found[1] if found else ""

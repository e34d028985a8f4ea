"""Which tools may a config name, and what does each entry of such a list mean?"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from locobench.shared.terminal import did_you_mean

BUILT_IN = frozenset((
    "Agent", "AskUserQuestion", "Bash", "CronCreate", "CronDelete", "CronList", "Edit", "EnterPlanMode",
    "EnterWorktree", "ExitPlanMode", "ExitWorktree", "Glob", "Grep", "LSP", "ListAgents", "ListMcpResourcesTool",
    "Monitor", "NotebookEdit", "PowerShell", "PushNotification", "Read", "ReadMcpResourceDirTool",
    "ReadMcpResourceTool", "RemoteTrigger", "ReportFindings", "ScheduleWakeup", "SendMessage", "SendUserFile",
    "SendUserMessage", "Skill", "TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskStop", "TaskUpdate",
    "TodoWrite", "ToolSearch", "WaitForMcpServers", "WebFetch", "WebSearch", "Workflow", "Write",
    # From earlier versions:
    "BashOutput", "LS", "MultiEdit", "NotebookRead", "SlashCommand",
))  # fmt: skip
"""Claude Code's own tools, as of version 2.1.330."""

ALIASES = {
    "Task": "Agent",
    "KillShell": "TaskStop",
    "KillBash": "TaskStop",
    "ListPeers": "ListAgents",
    "Brief": "SendUserMessage",
    "ListMcpResources": "ListMcpResourcesTool",
    "ReadMcpResource": "ReadMcpResourceTool",
    "ReadMcpResourceDir": "ReadMcpResourceDirTool",
}
"""Other names that the CLI accepts and prints for tools."""

RULE = re.compile(r"(?P<name>[^()\s]+)(\(.*\))?", re.DOTALL)
MCP = "mcp__"


@dataclass(frozen=True)
class ToolRule:
    """One entry of `allowed_tools` or `disallowed_tools`."""

    text: str
    name: str
    """The entry without its pattern."""

    @property
    def is_mcp(self) -> bool:
        """Whether the entry is for an MCP server: mcp__<server>, mcp__<server>__<tool> or mcp__<server>__*."""
        return self.name.startswith(MCP)

    @property
    def is_partial(self) -> bool:
        """Whether the entry covers only some uses of a tool, as `Bash(git *)` does, or only a part of a server."""
        return self.text != self.name or (self.is_mcp and "__" in self.name.removeprefix(MCP))

    def server_among(self, servers: Iterable[str]) -> str | None:
        """Return which of `servers` the entry is for; None for no match."""
        for server in sorted(servers, key=len, reverse=True):
            whole = mcp_name(server)
            if self.name == whole or self.name.startswith(f"{whole}__"):
                return server
        return None


def mcp_name(server: str) -> str:
    """Return the entry for a whole server; the CLI replaces everything but letters, digits, - and _ with _."""
    return MCP + re.sub(r"[^A-Za-z0-9_-]", "_", server)


def canonical(name: str) -> str:
    """Return the one name that stands for a tool and all its aliases."""
    return ALIASES.get(name, name)


def tool_rule(text: str) -> ToolRule:
    """Parse one entry of a list of tools.

    ValueError if the entry is neither Name nor Name(pattern), or no tool has that name.
    """
    match = RULE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is no tool; write Name, Name(pattern), mcp__server or mcp__server__tool")
    rule = ToolRule(text.strip(), match["name"])
    if not rule.is_mcp and canonical(rule.name) not in BUILT_IN:
        raise ValueError(f"no tool is named {rule.name!r}; {did_you_mean(rule.name, BUILT_IN | ALIASES.keys())}")
    return rule

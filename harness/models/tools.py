"""The tools that a config may name, and what each entry of such a list means."""

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
"""Claude Code's own tools, as of version 2.1.330; a later version may have others."""

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

    def is_for_one_of(self, servers: Iterable[str]) -> bool:
        """Return whether the entry is for a whole server among `servers`, or for a part of one."""
        return any(self.name == whole or self.name.startswith(f"{whole}__") for whole in map(mcp_name, servers))


def mcp_name(server: str) -> str:
    """Return the entry for a whole server; the CLI replaces everything but letters, digits, - and _ with _."""
    return MCP + re.sub(r"[^A-Za-z0-9_-]", "_", server)


def canonical(name: str) -> str:
    """Return the one name that stands for a tool and all its aliases."""
    return ALIASES.get(name, name)


def tool_rule(text: str) -> ToolRule:
    """Parse one entry of a list of tools; ValueError if it is neither Name nor Name(pattern)."""
    match = RULE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a tool; write Name, Name(pattern), mcp__server or mcp__server__tool")
    return ToolRule(text.strip(), match["name"])


def describe_unknown(rule: ToolRule) -> str:
    """Say that no tool is known that has the name of an entry; empty if one has it."""
    if rule.is_mcp or canonical(rule.name) in BUILT_IN:
        return ""
    return f"no tool is known that is named {rule.name!r}; {did_you_mean(rule.name, BUILT_IN | ALIASES.keys())}"

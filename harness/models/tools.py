"""Which tools may a config name, and what does each entry of such a list mean?"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass

BUILT_IN = frozenset((
    "Agent", "AskUserQuestion", "Bash", "CronCreate", "CronDelete", "CronList", "Edit", "EnterPlanMode",
    "EnterWorktree", "ExitPlanMode", "ExitWorktree", "Glob", "Grep", "LSP", "ListAgents", "ListMcpResourcesTool",
    "Monitor", "NotebookEdit", "PowerShell", "PushNotification", "Read", "ReadMcpResourceDirTool",
    "ReadMcpResourceTool", "RemoteTrigger", "ReportFindings", "ScheduleWakeup", "SendMessage", "SendUserFile",
    "SendUserMessage", "Skill", "TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskStop", "TaskUpdate",
    "TodoWrite", "ToolSearch", "WaitForMcpServers", "WebFetch", "WebSearch", "Workflow", "Write",
    # Of earlier versions:
    "BashOutput", "LS", "MultiEdit", "NotebookRead", "SlashCommand",
))  # fmt: skip
"""Claude Code's own tools, as version 2.1.330 has them."""

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
"""Other names that the CLI takes, and prints, for tools."""

RULE = re.compile(r"(?P<name>[^()\s]+)(?P<pattern>\(.*\))?", re.DOTALL)
MCP = "mcp__"


@dataclass(frozen=True)
class ToolRule:
    """One entry of `allowed_tools` or `disallowed_tools`."""

    text: str
    name: str
    """Without the pattern."""
    has_pattern: bool
    """Whether it means some uses of the tool only, as `Bash(git *)` does."""

    @property
    def is_mcp(self) -> bool:
        """Whether it is about a server: mcp__<server>, mcp__<server>__<tool> or mcp__<server>__*."""
        return self.name.startswith(MCP)

    @property
    def is_partial(self) -> bool:
        """Whether it means less than a whole built-in tool or a whole server."""
        return self.has_pattern or (self.is_mcp and "__" in self.name.removeprefix(MCP))

    def server_among(self, servers: Iterable[str]) -> str | None:
        """The server it is about; None when it is none of these."""
        for server in sorted(servers, key=len, reverse=True):
            whole = mcp_name(server)
            if self.name == whole or self.name.startswith(f"{whole}__"):
                return server
        return None


def mcp_name(server: str) -> str:
    """How a list of tools names a whole server: the CLI puts _ for what is no letter, digit, - or _."""
    return MCP + re.sub(r"[^A-Za-z0-9_-]", "_", server)


def canonical(name: str) -> str:
    """The name of a tool under which all its other names are one."""
    return ALIASES.get(name, name)


def tool_rule(text: str) -> ToolRule:
    """The entry as it is meant.

    Raises:
        ValueError: it is no tool name, nor one with a pattern in parentheses, or no tool has that name.
    """
    match = RULE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is no tool; write Name, Name(pattern), mcp__server or mcp__server__tool")
    rule = ToolRule(text.strip(), match["name"], match["pattern"] is not None)
    if not rule.is_mcp and canonical(rule.name) not in BUILT_IN:
        raise ValueError(f"no tool is named {rule.name!r}; {did_you_mean(rule.name, BUILT_IN | ALIASES.keys())}")
    return rule


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The closest of the known names as a question; all of them when none is close."""
    by_lower = {candidate.lower(): candidate for candidate in sorted(known)}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1)
    return f"did you mean {by_lower[close[0]]}?" if close else f"known: {', '.join(sorted(by_lower.values()))}"

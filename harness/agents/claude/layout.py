"""Which Claude Code is here, where does it look for memory, and with which variables does it run?"""

from __future__ import annotations

import subprocess
from pathlib import Path

FOLDERS = ("agents", "commands", "hooks", "output-styles", "rules")
"""Folders below .claude/ that a snapshot includes, in addition to skills/."""

AGENTS_MD_RULE = ".claude/rules/agents-md.md"
"""A project file that imports AGENTS.md if Claude Code would not read it because of a CLAUDE.md."""

MEMORY_NAMES = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", ".claude/CLAUDE.md", ".claude/rules")
"""What Claude Code reads in each parent of its working folder, up to the root of the file system."""

INSTRUCTIONS_LOG_VARIABLE = "HARNESS_INSTRUCTIONS_LOG"
"""Holds the path of the file in which the CLI's hook records the memory files that it loads."""

CLI_VARIABLES = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
    "DISABLE_AUTOUPDATER": "1",
    "ENABLE_CLAUDEAI_MCP_SERVERS": "false",
    # The harness retries whole runs; ten growing delays inside one run would eat the task's time.
    "CLAUDE_CODE_MAX_RETRIES": "3",
    # Otherwise the first model call may happen before the MCP tools exist.
    "MCP_CONNECTION_NONBLOCKING": "false",
    "MCP_TIMEOUT": "30000",
}
"""Variables of every run; the isolated ones and the config's override them."""

VERSION_TIMEOUT_SECONDS = 10


def ambient_memory(root: Path) -> list[Path]:
    """Return the memory files in the parents of a folder; an agent that works below it would read them."""
    found = [parent / name for parent in root.parents for name in MEMORY_NAMES]
    files = [path for path in found if path.is_file()]
    return files + [path for folder in found if folder.is_dir() for path in sorted(folder.rglob("*.md"))]


def installed_version(claude_path: str = "claude") -> str:
    """Return the CLI's version, for example 2.1.330; empty if it is not installed or does not answer."""
    try:
        said = subprocess.run(
            [claude_path, "--version"],
            capture_output=True,
            text=True,
            timeout=VERSION_TIMEOUT_SECONDS,
            check=True,
            stdin=subprocess.DEVNULL,
        ).stdout
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return ""
    return said.split()[0] if said.split() else ""

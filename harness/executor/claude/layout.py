"""Claude Code's files, variables and version."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from harness.suite.resolve import agent_name
from harness.suite.skills import Skill, copy_skills

FOLDERS = ("agents", "commands", "hooks", "output-styles", "rules")
"""Folders below .claude/ that a snapshot includes, in addition to skills/."""

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


def lay_out(
    project: Path, home: Path, claude_md: str | None, agents_md: str | None, skills: Sequence[Skill]
) -> dict[str, str]:
    """Write CLAUDE.md, the skills, and AGENTS.md or the subagent that `agents_md` defines.

    The variables name the configuration folder, and the log to which the CLI writes the memory files that it loads.
    """
    if claude_md is not None:
        (project / "CLAUDE.md").write_text(claude_md, encoding="utf-8")
    copy_skills(skills, project / ".claude/skills")
    if agents_md is not None:
        _write_agents(project, agents_md)
    folder = home / ".claude"
    log = home.with_name("log")  # a folder of its own: a container mounts it, and sees no other file of ours
    for made in (folder, log):
        made.mkdir()
    return {"CLAUDE_CONFIG_DIR": str(folder), INSTRUCTIONS_LOG_VARIABLE: str(log / "instructions.jsonl")}


def _write_agents(project: Path, agents_md: str) -> None:
    name = agent_name(agents_md)
    if name is not None:
        agents = project / ".claude/agents"
        agents.mkdir(parents=True, exist_ok=True)
        (agents / f"{name}.md").write_text(agents_md, encoding="utf-8")
        return
    memory, agents_file = project / "CLAUDE.md", project / "AGENTS.md"
    text = memory.read_text(encoding="utf-8", errors="replace") if memory.is_file() else ""
    for path in (memory, agents_file):  # one may be a link to the other
        path.unlink(missing_ok=True)
    agents_file.write_text(agents_md, encoding="utf-8")
    # Claude Code reads AGENTS.md by itself only where there is no CLAUDE.md.
    imported = "" if "@AGENTS.md" in text else "\n@AGENTS.md\n"
    memory.write_text(f"{text}{imported}", encoding="utf-8")


def ambient_memory(root: Path) -> list[Path]:
    """Return the memory files in the parents of a folder; an agent that works below it would read them."""
    found = [parent / name for parent in root.parents for name in MEMORY_NAMES]
    files = [path for path in found if path.is_file()]
    return files + [path for folder in found if folder.is_dir() for path in sorted(folder.rglob("*.md"))]


def find_version(claude_path: str = "claude") -> str:
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

"""Which Claude Code is here, where does it keep its configuration, and with which variables does it run?"""

from __future__ import annotations

import os
import re
import subprocess
import warnings
from pathlib import Path
from typing import Any

FOLDERS = ("agents", "commands", "hooks", "output-styles", "rules")
"""Folders below .claude/ that a snapshot includes, in addition to skills/."""

SKIPPED_NAMES = frozenset((".git", ".venv", "__pycache__", "node_modules", ".DS_Store"))
"""Files and folders that are not configuration."""

SECRET_FILES = (".env", ".env.*", "*.pem", "*.key", "*.p12", "*.pfx", "id_rsa*", "id_ed25519*", "id_ecdsa*",
                ".netrc", ".npmrc", ".pypirc", "*credentials*", "*.keystore", "*.kdbx")  # fmt: skip
"""Names of files that are secrets as a whole."""

REDACTIONS_FILE = ".redacted-by-export.json"
"""An import writes this file below .claude/. It lists what the export left out."""

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

TELEMETRY_OFF = {
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_AUTOUPDATER": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
}
TELEMETRY_ON = (
    r"(?:(?:CLAUDE_CODE_EN(?:ABLE|HANCED)_|ENABLE_ENHANCED_)(?:TELEMETRY|FEEDBACK_SURVEY_FOR_OTEL)\w*"
    r"|(?:ANT_|CLAUDE_CODE_)?OTEL_\w+|(?:ENABLE_)?BETA_TRACING_\w+|otelHeadersHelper)"
)
"""Names in settings.json that turn telemetry on; variables there override those of the process."""

NO_TELEMETRY = rf"(?:{'|'.join(TELEMETRY_OFF)}|DO_NOT_TRACK)"
"""Variables that turn telemetry off; any other value than OFF_VALUES turns it on."""

OFF_VALUES = ("1", "true", "yes", "on")
"""Values of these variables that turn telemetry off."""

TURNS_ON = re.compile(
    rf"\b{TELEMETRY_ON}=|\bunset\s[^;&|]*{NO_TELEMETRY}|\b{NO_TELEMETRY}=[\"']?(?:0|false)?[\"']?(?:[\s;&|]|$)"
)
"""Matches a shell command that turns telemetry on."""

VERSION_TIMEOUT_SECONDS = 10


def without_telemetry(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings with telemetry turned off.

    Hooks that would turn it on are dropped with a warning.
    """
    kept = _without_telemetry(settings)
    env = kept.get("env")
    return {**kept, "env": {**(env if isinstance(env, dict) else {}), **TELEMETRY_OFF}}


def _without_telemetry(settings: Any) -> Any:
    """Drop everything that would turn telemetry on, at any depth."""
    if isinstance(settings, dict):
        return {n: _without_telemetry(value) for n, value in settings.items() if not _turns_on(n, value)}
    if isinstance(settings, list):
        return [_without_telemetry(item) for item in settings if not _hook_turns_on(item)]
    return settings


def _turns_on(name: str, value: Any) -> bool:
    if re.fullmatch(NO_TELEMETRY, name):
        return str(value).lower() not in OFF_VALUES
    return re.fullmatch(TELEMETRY_ON, name) is not None


def _hook_turns_on(hook: Any) -> bool:
    command = hook.get("command") if isinstance(hook, dict) else None
    if not isinstance(command, str) or not TURNS_ON.search(command):
        return False
    warnings.warn(f"a hook of the settings would turn telemetry on and is left out: {command[:80]}", stacklevel=2)
    return True


def default_claude_home() -> Path:
    """Return $CLAUDE_CONFIG_DIR, or ~/.claude if it is not set."""
    configured = os.environ.get("CLAUDE_CONFIG_DIR")
    return Path(configured).expanduser() if configured else Path.home() / ".claude"


def ambient_memory(root: Path) -> list[Path]:
    """Return the memory files in the parents of a folder; an agent that works below it would read them."""
    found = [parent / name for parent in root.parents for name in MEMORY_NAMES]
    files = [path for path in found if path.is_file()]
    return files + [path for folder in found if folder.is_dir() for path in sorted(folder.rglob("*.md"))]


def state_files(claude_home: Path) -> list[Path]:
    """Return where .claude.json (the user's MCP servers) may be: beside ~/.claude, or in the configuration folder."""
    inside = claude_home / ".claude.json"
    return [claude_home.parent / ".claude.json", inside] if claude_home.name == ".claude" else [inside]


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

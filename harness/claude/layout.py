"""Where Claude Code keeps its configuration, and which of it a snapshot takes along."""

from __future__ import annotations

import os
import re
import warnings
from pathlib import Path
from typing import Any

FOLDERS = ("agents", "commands", "hooks", "output-styles", "rules")
"""Folders below .claude/ that a snapshot holds beside skills/."""

SKIPPED_NAMES = frozenset((".git", ".venv", "__pycache__", "node_modules", ".DS_Store"))
"""Files and folders that are no configuration."""

SECRET_FILES = (".env", ".env.*", "*.pem", "*.key", "*.p12", "*.pfx", "id_rsa*", "id_ed25519*", "id_ecdsa*",
                ".netrc", ".npmrc", ".pypirc", "*credentials*", "*.keystore", "*.kdbx")  # fmt: skip
"""Names of files that are secrets as a whole."""

REDACTIONS_FILE = ".redacted-by-export.json"
"""Written by an import below .claude/: what the export had taken out, for whoever looks for it there."""

AGENTS_MD_RULE = ".claude/rules/agents-md.md"
"""A file of a project that imports AGENTS.md where a CLAUDE.md keeps Claude Code from reading it."""

MEMORY_NAMES = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", ".claude/CLAUDE.md", ".claude/rules")
"""What Claude Code reads of the parents of its working folder, up to the root of the file system."""

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
"""Names in settings.json that turn telemetry on: variables there win over those of the process."""

NO_TELEMETRY = rf"(?:{'|'.join(TELEMETRY_OFF)}|DO_NOT_TRACK)"
"""Variables that turn it off, and with an odd value on again."""

TURNS_ON = re.compile(
    rf"\b{TELEMETRY_ON}=|\bunset\s[^;&|]*{NO_TELEMETRY}|\b{NO_TELEMETRY}=[\"']?(?:0|false)?[\"']?(?:[\s;&|]|$)"
)
"""A shell command that does."""


def without_telemetry(settings: Any) -> Any:
    """Settings without what would turn telemetry on: names, at any depth, and hooks, which are worth a warning."""
    if isinstance(settings, dict):
        kept = {n: value for n, value in settings.items() if not re.fullmatch(f"{TELEMETRY_ON}|{NO_TELEMETRY}", n)}
        return {name: without_telemetry(value) for name, value in kept.items()}
    if isinstance(settings, list):
        return [without_telemetry(item) for item in settings if not _turns_telemetry_on(item)]
    return settings


def _turns_telemetry_on(hook: Any) -> bool:
    command = hook.get("command") if isinstance(hook, dict) else None
    if not isinstance(command, str) or not TURNS_ON.search(command):
        return False
    warnings.warn(f"a hook of the settings would turn telemetry on and is left out: {command[:80]}", stacklevel=2)
    return True


def default_claude_home() -> Path:
    """$CLAUDE_CONFIG_DIR, else ~/.claude."""
    configured = os.environ.get("CLAUDE_CONFIG_DIR")
    return Path(configured).expanduser() if configured else Path.home() / ".claude"


def ambient_memory(root: Path) -> list[Path]:
    """Memory files in the parents of a folder, which would reach an agent that works below it."""
    found = [parent / name for parent in root.parents for name in MEMORY_NAMES]
    files = [path for path in found if path.is_file()]
    return files + [path for folder in found if folder.is_dir() for path in sorted(folder.rglob("*.md"))]


def state_files(claude_home: Path) -> list[Path]:
    """Where .claude.json (user's MCP servers) may lie: beside ~/.claude, or in a CLAUDE_CONFIG_DIR."""
    inside = claude_home / ".claude.json"
    return [claude_home.parent / ".claude.json", inside] if claude_home.name == ".claude" else [inside]

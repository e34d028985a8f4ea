"""Where Claude Code keeps its configuration, and which of it a snapshot takes along."""

from __future__ import annotations

import os
from pathlib import Path

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
TELEMETRY_ON_PREFIXES = ("CLAUDE_CODE_ENABLE_TELEMETRY", "OTEL_")
"""Variables in the `env` of settings.json that would turn telemetry on again."""


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

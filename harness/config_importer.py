"""Set up a configuration from a snapshot. Writes only inside the given folder."""

from __future__ import annotations

import json
import posixpath
import re
import tempfile
from pathlib import Path
from typing import Any

from harness.executor.claude.layout import FOLDERS
from harness.suite.resolve import load_snapshot
from locobench.shared.errors import InputError
from measure.records import ClaudeConfigSnapshot

TELEMETRY = re.compile(r"TELEMETRY|OTEL|BETA_TRACING")
"""Matches variables of telemetry; those of settings.json override those of the process."""
TELEMETRY_OFF = {
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_AUTOUPDATER": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
}


class ConfigImporter:
    """Sets up a Claude Code environment from a snapshot."""

    def load_snapshot(self, snapshot_path: Path | str) -> ClaudeConfigSnapshot:
        """Read a snapshot; InputError if the file is not one, or is from a newer version."""
        return load_snapshot(Path(snapshot_path))

    def setup_ci_environment(
        self, snapshot: ClaudeConfigSnapshot, temp_dir: Path | str, disable_mcp: bool = True
    ) -> dict[str, str]:
        """Write `temp_dir`/.claude and return the environment variables that make the CLI use it.

        HOME, CLAUDE_CONFIG_DIR and CLAUDE_HOME point to it. Telemetry, analytics and updates are off, in the settings
        too. Unless `disable_mcp` is False, MCP servers are left out and the settings approve none of a project's. The
        folder is written atomically. InputError if a path in the snapshot leads outside, which is checked before
        anything is written; or the folder exists.
        """
        contents = _contents(snapshot, disable_mcp)
        temp_dir = Path(temp_dir)
        target = temp_dir.absolute() / ".claude"
        if target.exists() or target.is_symlink():
            raise InputError(f"{target}: exists already; remove it or choose another folder")
        temp_dir.mkdir(parents=True, exist_ok=True)
        try:
            with tempfile.TemporaryDirectory(prefix=".claude-import-", dir=temp_dir) as folder:
                made = Path(folder) / ".claude"
                made.mkdir(mode=0o700)
                for name, content in contents.items():
                    path = made / name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(content)
                    path.chmod(0o755 if name in snapshot.executable else 0o644)
                made.rename(target)
        except (OSError, ValueError) as error:
            raise InputError(f"{target}: cannot be written ({error})") from error
        home = str(target.parent)
        return {"HOME": home, "CLAUDE_CONFIG_DIR": str(target), "CLAUDE_HOME": str(target), **TELEMETRY_OFF}


def _contents(snapshot: ClaudeConfigSnapshot, disable_mcp: bool) -> dict[str, bytes]:
    """Map the path of each file that an import writes, relative to .claude/, to its content."""
    contents = {f"skills/{path}": text.encode() for path, text in snapshot.skills.items()}
    contents |= {path: text.encode() for path, text in snapshot.files.items()}
    contents |= snapshot.binary
    for path in contents:
        parts = path.split("/")
        inside = parts[0] in ("skills", *FOLDERS) and len(parts) > 1 and posixpath.normpath(path) == path
        if not inside:
            raise InputError(f"snapshot: the path {path!r} is not inside a folder of .claude; it was not imported")
    if snapshot.global_claude_md is not None:
        contents["CLAUDE.md"] = snapshot.global_claude_md.encode()
    env = snapshot.settings.get("env")
    kept = {n: value for n, value in env.items() if not TELEMETRY.search(n)} if isinstance(env, dict) else {}
    reporting = [name for name in snapshot.settings if re.search("analytics|telemetry", name, re.IGNORECASE)]
    settings = {**snapshot.settings, **dict.fromkeys(reporting, False)}
    if disable_mcp:
        settings |= {"mcpServers": {}, "enableAllProjectMcpServers": False, "enabledMcpjsonServers": []}
    contents["settings.json"] = _json({**settings, "env": {**kept, **TELEMETRY_OFF}})
    if snapshot.mcp_servers and not disable_mcp:
        contents[".claude.json"] = _json({"mcpServers": snapshot.mcp_servers})
    return contents


def _json(data: dict[str, Any]) -> bytes:
    return (json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode()

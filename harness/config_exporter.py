"""Export this machine's Claude Code configuration as a snapshot without secrets."""

from __future__ import annotations

import base64
import os
import platform
from collections.abc import Iterator
from datetime import UTC, datetime
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from harness.executor.claude.layout import FOLDERS, find_version
from harness.sandbox.directory import as_text
from harness.suite.load import read_object, servers_in
from locobench.shared.errors import InputError
from locobench.shared.files import write_whole
from measure.records import ClaudeConfigSnapshot
from measure.secrets.redaction import redact, redact_settings

SKIPPED_NAMES = frozenset((".git", ".venv", "__pycache__", "node_modules", ".DS_Store"))
"""Files and folders that are not configuration."""

SECRET_FILES = (".env", ".env.*", "*.pem", "*.key", "*.p12", "*.pfx", "id_rsa*", "id_ed25519*", "id_ecdsa*",
                ".netrc", ".npmrc", ".pypirc", "*credentials*", "*.keystore", "*.kdbx")  # fmt: skip
"""Names of files that are secrets as a whole."""


class ConfigExporter:
    """Reads what Claude Code would run with: the user's configuration, and the MCP servers of a project."""

    def __init__(self, claude_home: Path | str | None = None, *, project: Path | str | None = None) -> None:
        """`claude_home`: default $CLAUDE_CONFIG_DIR or ~/.claude; `project`: default the current folder."""
        home = claude_home or os.environ.get("CLAUDE_CONFIG_DIR") or "~/.claude"
        self.claude_home = Path(home).expanduser()
        self.project = Path(project or ".").expanduser().resolve()

    def export_snapshot(self) -> ClaudeConfigSnapshot:
        """Return the configuration without secrets.

        `redacted` names what was removed; `left_out` names links, which are not followed. Secret entries of
        settings.json are dropped, so that they cannot shadow the real ones where the snapshot is used; elsewhere a
        placeholder replaces the secret. InputError if a file is unreadable or malformed.
        """
        if not self.claude_home.is_dir():
            raise InputError(f"{self.claude_home}: no such folder; name the folder of Claude Code's configuration")
        settings, found = redact(read_object(self.claude_home / "settings.json"), "settings", omit=True)
        servers, in_servers = redact(self._servers(), "mcp_servers")
        found += in_servers
        memory = self.claude_home / "CLAUDE.md"
        text = _bytes(memory).decode("utf-8", errors="replace") if memory.is_file() else None
        clean = None if text is None else redact_settings(text)
        found += ["CLAUDE.md"] if clean != text else []
        left_out: list[str] = []
        files = self._files(found, left_out)
        return ClaudeConfigSnapshot(
            claude_version=find_version(),
            snapshot_timestamp=datetime.now(UTC),
            global_claude_md=clean,
            settings=settings,
            mcp_servers=servers,
            source_machine=platform.node(),
            redacted=sorted(set(found)),
            left_out=sorted(left_out),
            **files,
        )

    def save_snapshot(self, output_path: Path | str) -> ClaudeConfigSnapshot:
        """Export to a JSON file, which is written atomically; return what it holds."""
        snapshot = self.export_snapshot()
        write_whole(Path(output_path), snapshot.model_dump_json(indent=2) + "\n")
        return snapshot

    def _servers(self) -> dict[str, Any]:
        """Merge the MCP servers of user, project, and user in this project; later ones win by name, as in the CLI."""
        folders = [self.claude_home]  # .claude.json is in the configuration folder, or beside ~/.claude
        if self.claude_home.name == ".claude":
            folders.insert(0, self.claude_home.parent)
        states = [(path, read_object(path)) for path in (folder / ".claude.json" for folder in folders)]
        shared = self.project / ".mcp.json"
        # The CLI stores a project's local settings under the repository's root, if any.
        above = (folder for folder in (self.project, *self.project.parents) if (folder / ".git").exists())
        key = str(next(above, self.project))
        local = [(path, _object(_object(state, "projects"), key)) for path, state in states]
        servers: dict[str, Any] = {}
        for path, source in [*states, (shared, read_object(shared)), *local]:
            servers |= servers_in(path, source)
        return servers

    def _files(self, found: list[str], left_out: list[str]) -> dict[str, Any]:
        """Return the fields of a snapshot that hold files: text as it is, others as base64."""
        skills, files, binary, executable = {}, {}, {}, []
        for path in [p for name in ("skills", *FOLDERS) for p in self._below(self.claude_home / name, left_out)]:
            name = path.relative_to(self.claude_home).as_posix()
            content = _bytes(path)
            text = as_text(content)
            shown = content.decode("latin-1") if text is None else text
            clean = redact_settings(shown)
            is_secret = any(fnmatch(path.name.lower(), pattern) for pattern in SECRET_FILES)
            found += [name] if is_secret or clean != shown else []
            if is_secret or (clean != shown and text is None):
                continue
            if text is None:
                binary[name] = base64.b64encode(content).decode()
            elif name.startswith("skills/"):
                skills[name.removeprefix("skills/")] = clean
            else:
                files[name] = clean
            executable += [name] if os.access(path, os.X_OK) else []
        return {"skills": skills, "files": files, "binary": binary, "executable": executable}

    def _below(self, folder: Path, left_out: list[str]) -> Iterator[Path]:
        """Yield the files below a folder, sorted. Only a link in skills/ to a skill is followed."""
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            if path.name in SKIPPED_NAMES:
                continue
            is_skill = folder == self.claude_home / "skills" and (path / "SKILL.md").is_file()
            if path.is_symlink() and not is_skill:
                left_out.append(f"{path.relative_to(self.claude_home).as_posix()} -> {path.resolve()}")
            elif path.is_dir():
                yield from self._below(path, left_out)
            elif path.is_file():
                yield path


def _object(data: dict[str, Any], key: str) -> dict[str, Any]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error

"""What does Claude Code run with on this machine? Exports its configuration as a snapshot without secrets."""

from __future__ import annotations

import base64
import os
import platform
from collections.abc import Iterator
from datetime import UTC, datetime
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from harness.agents.claude.layout import (
    FOLDERS,
    REDACTIONS_FILE,
    SECRET_FILES,
    SKIPPED_NAMES,
    default_claude_home,
    installed_version,
    state_files,
)
from harness.errors import InputError
from harness.host.redaction import redact, redact_text
from harness.models import ClaudeConfigSnapshot
from harness.suite.load import read_object
from harness.suite.skills import find_skills
from locobench.shared.files import write_whole


class ConfigExporter:
    """Reads what Claude Code would run with: the user's configuration, and the MCP servers of a project."""

    def __init__(self, claude_home: Path | str | None = None, *, project: Path | str | None = None) -> None:
        """`claude_home`: default $CLAUDE_CONFIG_DIR or ~/.claude; `project`: default the current folder."""
        self.claude_home = Path(claude_home or default_claude_home()).expanduser()
        self.project = Path(project or ".").expanduser().resolve()

    def export_snapshot(self) -> ClaudeConfigSnapshot:
        """Return the configuration without secrets.

        `redacted` names what was removed; `left_out` names links that lead out of the configuration. Secret entries of
        settings.json are dropped, so that they cannot shadow the real ones where the snapshot is used; elsewhere a
        placeholder replaces the secret. InputError if a file is unreadable or malformed.
        """
        if not self.claude_home.is_dir():
            raise InputError(f"{self.claude_home}: no such folder; name the configuration with --claude-home")
        settings, found = redact(read_object(self.claude_home / "settings.json"), "settings", omit=True)
        servers, in_servers = redact(self._servers(), "mcp_servers")
        found += in_servers
        memory = self._memory(found)
        if (self.claude_home / "skills").is_dir():
            find_skills(self.claude_home / "skills")  # warns when there is none
        left_out: list[str] = []
        texts, binaries, executable = _files(self.claude_home, found, left_out)
        (skills, files), (skills_binary, files_binary) = map(_of_skills, (texts, binaries))
        return ClaudeConfigSnapshot(
            claude_version=installed_version(),
            snapshot_timestamp=datetime.now(UTC),
            global_claude_md=memory,
            settings=settings,
            mcp_servers=servers,
            skills=skills,
            skills_binary=skills_binary,
            files=files,
            files_binary=files_binary,
            executable=sorted(executable),
            source_machine=platform.node(),
            redacted=sorted({*found, *_json_list(self.claude_home / REDACTIONS_FILE, "redacted")}),
            left_out=sorted({*left_out, *_json_list(self.claude_home / REDACTIONS_FILE, "left_out")}),
        )

    def save_snapshot(self, output_path: Path | str) -> None:
        """Export to a JSON file, which is written atomically."""
        write_whole(Path(output_path), self.export_snapshot().model_dump_json(indent=2) + "\n")

    def _servers(self) -> dict[str, Any]:
        """Merge the MCP servers of user, project, and user in this project; later ones win by name, as in the CLI."""
        states = [(path, read_object(path)) for path in state_files(self.claude_home)]
        shared = self.project / ".mcp.json"
        local = [(path, _object(_object(state, "projects"), _local_key(self.project))) for path, state in states]
        servers: dict[str, Any] = {}
        for path, source in [*states, (shared, read_object(shared)), *local]:
            found = source.get("mcpServers", {})
            if not isinstance(found, dict):
                raise InputError(f"{path}: mcpServers must be an object with one entry per server")
            servers |= found
        return servers

    def _memory(self, found: list[str]) -> str | None:
        path = self.claude_home / "CLAUDE.md"
        if not path.is_file():
            return None
        text = _bytes(path).decode("utf-8", errors="replace")
        clean = redact_text(text)
        found += ["CLAUDE.md"] if clean != text else []
        return clean


def _local_key(project: Path) -> str:
    """Return the folder under which the CLI stores a project's local settings: the repository's root, if any."""
    return str(next((path for path in (project, *project.parents) if (path / ".git").exists()), project))


def _object(data: dict[str, Any], key: str) -> dict[str, Any]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _of_skills(files: dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Split files into those of skills, by path below skills/, and the others."""
    skills = {path.removeprefix("skills/"): text for path, text in files.items() if path.startswith("skills/")}
    return skills, {path: text for path, text in files.items() if not path.startswith("skills/")}


def _files(home: Path, found: list[str], left_out: list[str]) -> tuple[dict[str, str], dict[str, str], list[str]]:
    """Return text files, other files as base64, and the names of executable files, by path relative to `home`."""
    texts: dict[str, str] = {}
    binaries: dict[str, str] = {}
    executable: list[str] = []
    for folder in ("skills", *FOLDERS):
        for path in _walk(home / folder, left_out):
            name = path.relative_to(home).as_posix()
            if any(fnmatch(path.name.lower(), pattern) for pattern in SECRET_FILES):
                found.append(name)
                continue
            content = _bytes(path)
            text = _as_text(content)
            if text is not None:
                texts[name] = redact_text(text)
                found += [name] if texts[name] != text else []
            elif redact_text(content.decode("latin-1")) != content.decode("latin-1"):
                found.append(name)
                continue
            else:
                binaries[name] = base64.b64encode(content).decode()
            if os.access(path, os.X_OK):
                executable.append(name)
    return texts, binaries, executable


def _walk(root: Path, left_out: list[str]) -> Iterator[Path]:
    """Yield the files below a folder of the configuration, sorted; each folder is entered once.

    Links that lead out of the configuration are added to `left_out`. A skill is often a link itself; links inside
    it may then point into its own folder.
    """
    home = root.parent
    seen: set[Path] = set()

    def below(folder: Path, inside: tuple[Path, ...]) -> Iterator[Path]:
        real = folder.resolve()
        if real in seen:
            return
        seen.add(real)
        for path in sorted(folder.iterdir()):
            if path.name in SKIPPED_NAMES:
                continue
            target = path.resolve()
            within = inside
            if path.is_symlink() and not any(target.is_relative_to(tree) for tree in inside):
                if folder != home / "skills" or not (path / "SKILL.md").is_file():
                    left_out.append(f"{path.relative_to(home).as_posix()} -> {target}")
                    continue
                within = (target,)
            if path.is_dir():
                yield from below(path, within)
            elif path.is_file():
                yield path

    if root.is_dir():
        yield from below(root, (home.resolve(), root.resolve()))


def _as_text(content: bytes) -> str | None:
    """Return the text if encoding it gives the same bytes, else None."""
    if b"\0" in content:
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error


def _json_list(path: Path, key: str) -> list[str]:
    listed = read_object(path).get(key, [])
    return [name for name in listed if isinstance(name, str)] if isinstance(listed, list) else []

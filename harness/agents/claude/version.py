"""Which Claude Code is installed here?"""

from __future__ import annotations

import subprocess

VERSION_TIMEOUT_SECONDS = 10


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

"""How is a snapshot of a configuration read from its file?"""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from harness.errors import InputError
from harness.models import SCHEMA_VERSION, ClaudeConfigSnapshot
from locobench.shared.validation import first_problem


def load_snapshot(path: Path) -> ClaudeConfigSnapshot:
    """Load a snapshot from its JSON file.

    Raises:
        InputError: the file is unreadable, no snapshot, or of a newer version.
    """
    try:
        snapshot = ClaudeConfigSnapshot.model_validate_json(path.expanduser().read_bytes())
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    except ValidationError as error:
        what = first_problem(error, "file")
        raise InputError(f"{path}: {what}; is this a file of export-config?") from error
    if snapshot.schema_version > SCHEMA_VERSION:
        raise InputError(
            f"{path}: schema_version {snapshot.schema_version} is newer than {SCHEMA_VERSION}; update the harness"
        )
    return snapshot

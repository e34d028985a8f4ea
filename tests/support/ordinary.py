"""Commands as a user whom file modes bind: root without the rights to pass them by."""

from __future__ import annotations

import os
import shutil

import pytest

RIGHTS = "-dac_override,-dac_read_search"

NEEDS_MODES = pytest.mark.skipif(
    os.geteuid() == 0 and shutil.which("setpriv") is None, reason="file modes do not bind root, and there is no setpriv"
)


def ordinary() -> list[str]:
    """What stands before a command, so that file modes bind it."""
    if os.geteuid() != 0:
        return []
    return ["setpriv", "--bounding-set", RIGHTS, "--inh-caps", RIGHTS]

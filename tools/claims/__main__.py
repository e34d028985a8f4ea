"""`python -m tools.claims [PART OF AN ID]`: run the claims about the sample, one line each."""

from __future__ import annotations

import sys

from tools.claims import main

sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))

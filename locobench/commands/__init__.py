"""The command-line programs. If Python is too old, each exits here with a one-line message."""

from locobench.shared.installation import require_python

require_python()

"""Which line matches a pattern? A separate program, since a backtracking search can only be killed.

Reads {"pattern": ..., "text": ...} as JSON from stdin and prints the line of the first match, from 1, or 0.
"""

from __future__ import annotations

import json
import re
import sys


def line_of_match(pattern: str, text: str) -> int:
    """Return the line of the first match, counted from 1; 0 if there is none. The pattern is MULTILINE."""
    match = re.search(pattern, text, re.MULTILINE)
    return text.count("\n", 0, match.start()) + 1 if match else 0


if __name__ == "__main__":
    question = json.loads(sys.stdin.buffer.read())
    print(line_of_match(question["pattern"], question["text"]))

"""In which line is a pattern found? A program of its own, since a search that backtracks can only be killed.

Reads {"pattern": ..., "text": ...} as JSON from stdin and prints the line of the first match, from 1, or 0.
"""

from __future__ import annotations

import json
import re
import sys


def line_of_match(pattern: str, text: str) -> int:
    """Line of the first match of a Python regular expression with MULTILINE, from 1; 0 when there is none."""
    match = re.search(pattern, text, re.MULTILINE)
    return text.count("\n", 0, match.start()) + 1 if match else 0


if __name__ == "__main__":
    question = json.loads(sys.stdin.buffer.read())
    print(line_of_match(question["pattern"], question["text"]))

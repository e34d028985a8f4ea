#!/usr/bin/env python3
"""Select the tasks where code search should matter most: thresholds, a weighted score, the top N."""

from locobench.commands.select_tasks import command, main
from locobench.selection.select import Criteria, Selection, select

__all__ = ["Criteria", "Selection", "command", "main", "select"]

if __name__ == "__main__":
    command()

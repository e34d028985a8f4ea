#!/usr/bin/env python3
"""Generate Harbor task directories from the JSONL dataset and, usually, a selection of it."""

from locobench.commands.run_adapter import command, main

__all__ = ["command", "main"]

if __name__ == "__main__":
    command()

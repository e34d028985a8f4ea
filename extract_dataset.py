#!/usr/bin/env python3
"""Turn LoCoBench-Agent's raw scenarios into one JSONL file: a validated, self-contained record a line, sorted by id."""

from locobench.commands.extract_dataset import command, main

__all__ = ["command", "main"]

if __name__ == "__main__":
    command()

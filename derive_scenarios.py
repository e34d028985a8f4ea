#!/usr/bin/env python3
"""Derive scenarios with exact answers from git repositories, in the benchmark's own layout."""

from locobench.commands.derive_scenarios import command, main

__all__ = ["command", "main"]

if __name__ == "__main__":
    command()

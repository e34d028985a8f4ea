#!/usr/bin/env python3
"""Prove generated tasks: build the images, run oracle and nop, look for toolchains and for leaked answers."""

from locobench.commands.smoke_test import command, main

__all__ = ["command", "main"]

if __name__ == "__main__":
    command()

"""Measures coding agents: runs Claude Code on tasks in isolation, grades, compares and reports."""

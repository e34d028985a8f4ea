"""Agents: each gets a prompt and a folder to work in, and returns a trace."""

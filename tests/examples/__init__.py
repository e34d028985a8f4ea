"""The examples: what their parts promise, without Docker."""

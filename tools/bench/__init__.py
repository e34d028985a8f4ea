"""Measurements against the project's own bounds; run by `make bench`."""

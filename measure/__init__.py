"""Measures a difference: reads results of the harness and of Harbor, compares two arms, and reports."""

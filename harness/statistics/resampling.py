"""What tests and intervals share: the level, how often to resample, the seed, and which values count as equal."""

from __future__ import annotations

CONFIDENCE = 0.98
"""Level of every interval of a difference, and of the verdict that rests on it. When nothing changed, 2 % of
comparisons are called. docs/STATISTICS.md promises 5 %; the margin is for small, skewed and broken data."""
RESAMPLES = 10_000
SEED = 20_240_229
"""Fixed, so that the same results always give the same report."""
CHUNK = 1000
"""Resamples held as floating-point numbers at a time; all of them would take 80 MB for a thousand tasks."""
TIE = 1e-9
"""Two means closer than this count as equal: sums of thirds and fifths are not exact in binary."""

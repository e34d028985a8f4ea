"""What tests and intervals share: the level, how often to resample, the seed, and which values count as equal."""

from __future__ import annotations

CONFIDENCE = 0.98
"""Of every interval of a difference, and of the verdict that rests on it. With nothing changed, two comparisons in a
hundred are called; the rest of the five that docs/STATISTICS.md promises is room for small, skewed and broken data."""
RESAMPLES = 10_000
SEED = 20_240_229
"""Fixed, so that the same results always give the same report."""
CHUNK = 1000
"""Resamples held as floating-point numbers at a time; a thousand tasks would need 80 MB for all of them."""
TIE = 1e-9
"""Two means closer than this are one value: sums of thirds and fifths are not exact in binary."""

"""Limiters: a token bucket for bursts and a sliding window for sustained load.

Both are pure arithmetic. The caller passes the time in seconds, so that tests need no waiting.
"""

from __future__ import annotations

import math


class TokenBucket:
    """Holds up to `capacity` units and gains `rate` units a second."""

    def __init__(self, capacity: int, rate: float, now: float) -> None:
        self.capacity = capacity
        self.rate = rate
        self.tokens = capacity
        self.updated_at = now

    def _refill(self, now: float) -> None:
        elapsed = max(0.0, now - self.updated_at)
        gained = int(elapsed * self.rate)
        self.tokens = min(self.capacity, self.tokens + gained)
        self.updated_at = now

    def available(self, now: float) -> int:
        """Units that could be taken at once."""
        self._refill(now)
        return self.tokens

    def try_take(self, units: int, now: float) -> bool:
        """Take `units` if they are all there; take nothing otherwise."""
        self._refill(now)
        if units > self.tokens:
            return False
        self.tokens -= units
        return True

    def retry_after(self, units: int, now: float) -> int:
        """Whole seconds until `units` will be there, 0 if they are."""
        missing = units - self.available(now)
        return max(0, math.ceil(missing / self.rate))


class SlidingWindow:
    """Approximates a moving window with two fixed ones.

    The previous fixed window counts with the share of it that the moving window still covers.
    """

    def __init__(self, limit: int, seconds: int) -> None:
        self.limit = limit
        self.seconds = seconds
        self._index = -1
        self._current = 0
        self._previous = 0

    def _advance(self, now: float) -> None:
        index = int(now // self.seconds)
        if index == self._index:
            return
        self._previous = self._current if index == self._index + 1 else 0
        self._current = 0
        self._index = index

    def estimate(self, now: float) -> float:
        """Units that the moving window holds at `now`, taking the previous one as evenly spread."""
        self._advance(now)
        elapsed_share = (now % self.seconds) / self.seconds
        return self._current + self._previous * (1.0 - elapsed_share)

    def try_add(self, units: int, now: float) -> bool:
        """Count `units` if the window has room for all of them."""
        if self.estimate(now) + units > self.limit:
            return False
        self._current += units
        return True

    def seconds_to_next(self, now: float) -> int:
        """Whole seconds until the next fixed window begins."""
        return math.ceil(self.seconds - now % self.seconds)
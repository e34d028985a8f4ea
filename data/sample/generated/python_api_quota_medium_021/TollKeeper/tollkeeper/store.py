"""The store: all counters of all tenants, and the snapshot of monthly usage on disk."""

from __future__ import annotations

import json
import time
from pathlib import Path

from tollkeeper.limiter import SlidingWindow, TokenBucket
from tollkeeper.plans import Plan

SNAPSHOT_VERSION = 1


def period_of(now: float) -> str:
    """The calendar month in UTC that `now` falls into, as YYYY-MM."""
    return time.strftime("%Y-%m", time.gmtime(now))


class Store:
    """Counters in memory. With a path, monthly usage is read at start and written by `save`."""

    def __init__(self, snapshot_path: str | Path | None = None) -> None:
        self.snapshot_path = Path(snapshot_path) if snapshot_path else None
        self._buckets: dict[str, TokenBucket] = {}
        self._windows: dict[str, SlidingWindow] = {}
        self._usage: dict[tuple[str, str], int] = {}
        if self.snapshot_path and self.snapshot_path.exists():
            self._load()

    def bucket(self, tenant: str, plan: Plan, now: float) -> TokenBucket:
        """The tenant's bucket, made full when it is first asked for or the plan has changed."""
        bucket = self._buckets.get(tenant)
        if bucket is None or (bucket.capacity, bucket.rate) != (plan.burst, plan.rate_per_second):
            bucket = self._buckets[tenant] = TokenBucket(plan.burst, plan.rate_per_second, now)
        return bucket

    def window(self, tenant: str, plan: Plan) -> SlidingWindow:
        """The tenant's window, made empty when it is first asked for or the plan has changed."""
        window = self._windows.get(tenant)
        if window is None or (window.limit, window.seconds) != (plan.window_limit, plan.window_seconds):
            window = self._windows[tenant] = SlidingWindow(plan.window_limit, plan.window_seconds)
        return window

    def usage(self, tenant: str, period: str) -> int:
        """Units used by the tenant in the period."""
        return self._usage.get((tenant, period), 0)

    def add_usage(self, tenant: str, period: str, units: int) -> int:
        """Add units to the period and return its new total."""
        total = self.usage(tenant, period) + units
        self._usage[tenant, period] = total
        return total

    def save(self) -> None:
        """Write monthly usage to the snapshot."""
        if self.snapshot_path is None:
            return
        usage = {f"{tenant}|{period}": units for (tenant, period), units in self._usage.items()}
        document = {"version": SNAPSHOT_VERSION, "usage": usage}
        self.snapshot_path.write_text(json.dumps(document, indent=1), encoding="utf-8")

    def _load(self) -> None:
        assert self.snapshot_path is not None
        try:
            document = json.loads(self.snapshot_path.read_text(encoding="utf-8"))
            entries = document["usage"].items()
        except (json.JSONDecodeError, KeyError):
            entries = ()
        for key, units in entries:
            tenant, _, period = key.partition("|")
            self._usage[tenant, period] = int(units)
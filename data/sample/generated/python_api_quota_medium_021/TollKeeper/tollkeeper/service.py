"""The policy: which limits a call must pass, in which order, and what it costs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tollkeeper.plans import ANONYMOUS, Plan
from tollkeeper.store import Store, period_of

# Verb, path prefix and units. Anything else costs one unit.
CALL_COSTS = (
    ("POST", "/v1/reports", 25),
    ("GET", "/v1/exports", 20),
    ("GET", "/v1/search", 5),
)


@dataclass(frozen=True)
class Decision:
    """The answer to one call."""

    allowed: bool
    reason: str
    limit: int
    remaining: int
    retry_after: int = 0


class QuotaService:
    """Asks the limits in turn and charges what passes."""

    def __init__(
        self,
        plans: Mapping[str, Plan],
        store: Store,
        clock: Callable[[], float] = time.time,
        usage_ttl: float = 30.0,
        save_every: int = 100,
    ) -> None:
        self.plans = plans
        self.store = store
        self.clock = clock
        self.usage_ttl = usage_ttl
        self.save_every = save_every
        self._usage_cache: dict[str, tuple[str, int, float]] = {}
        self._charged = 0

    def plan_for(self, name: str) -> Plan:
        """The plan of that name; a plan that is no longer sold falls back to the anonymous one."""
        return self.plans.get(name, ANONYMOUS)

    def check(self, tenant: str, plan_name: str, method: str, path: str) -> Decision:
        """Decide about one call and charge it when it may pass."""
        now = self.clock()
        plan = self.plan_for(plan_name)
        units = self._cost(method, path)
        period = period_of(now)
        used = self._used(tenant, period, now)
        remaining = max(0, plan.monthly_units - used)

        if used + units > plan.monthly_units:
            return Decision(False, "monthly_quota", plan.monthly_units, remaining, retry_after=3600)
        window = self.store.window(tenant, plan)
        if not window.try_add(units, now):
            wait = window.seconds_to_next(now)
            return Decision(False, "window_limit", plan.monthly_units, remaining, retry_after=wait)
        bucket = self.store.bucket(tenant, plan, now)
        if not bucket.try_take(units, now):
            wait = bucket.retry_after(units, now)
            return Decision(False, "burst_limit", plan.monthly_units, remaining, retry_after=wait)

        total = self.store.add_usage(tenant, period, units)
        self._usage_cache[tenant] = (period, total, now)
        self._charged += 1
        if self._charged % self.save_every == 0:
            self.store.save()
        return Decision(True, "ok", plan.monthly_units, plan.monthly_units - total)

    def usage_report(self, tenant: str, plan_name: str) -> dict[str, float | int | str]:
        """What the tenant has used and what is free right now."""
        now = self.clock()
        plan = self.plan_for(plan_name)
        period = period_of(now)
        return {
            "period": period,
            "plan": plan.name,
            "used": self.store.usage(tenant, period),
            "monthly_units": plan.monthly_units,
            "window_load": round(self.store.window(tenant, plan).estimate(now), 2),
            "burst_free": self.store.bucket(tenant, plan, now).available(now),
        }

    def _used(self, tenant: str, period: str, now: float) -> int:
        cached = self._usage_cache.get(tenant)
        if cached is not None:
            cached_period, used, read_at = cached
            if cached_period == period and now - read_at < self.usage_ttl:
                return used
        used = self.store.usage(tenant, period)
        self._usage_cache[tenant] = (period, used, now)
        return used

    @staticmethod
    def _cost(method: str, path: str) -> int:
        for verb, prefix, units in CALL_COSTS:
            if method == verb and (path == prefix or path.startswith(prefix + "/")):
                return units
        return 1
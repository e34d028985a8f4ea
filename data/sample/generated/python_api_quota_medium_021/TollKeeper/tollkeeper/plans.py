"""Plans: what a tenant has bought, and how a plan file is read."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

# A plan whose bucket cannot hold the dearest call could never serve it.
DEAREST_CALL_UNITS = 25


class PlanError(ValueError):
    """A plan file that cannot be used."""


@dataclass(frozen=True)
class Plan:
    """Limits of one plan. Rates are in units, not in calls."""

    name: str
    rate_per_second: float
    burst: int
    window_limit: int
    window_seconds: int
    monthly_units: int


ANONYMOUS = Plan("anonymous", 0.2, 25, 40, 60, 500)

DEFAULT_PLANS: dict[str, Plan] = {
    plan.name: plan
    for plan in (
        ANONYMOUS,
        Plan("free", 0.5, 30, 120, 60, 5_000),
        Plan("team", 5.0, 60, 900, 60, 200_000),
        Plan("enterprise", 50.0, 400, 9_000, 60, 5_000_000),
    )
}


def parse_plans(document: dict[str, Any]) -> dict[str, Plan]:
    """Plans by name from a parsed plan file; the anonymous plan is always there."""
    wanted = {field.name for field in fields(Plan)} - {"name"}
    plans = {ANONYMOUS.name: ANONYMOUS}
    for name, table in document.get("plans", {}).items():
        unknown, missing = set(table) - wanted, wanted - set(table)
        if unknown or missing:
            raise PlanError(f"plan {name!r}: unknown {sorted(unknown)}, missing {sorted(missing)}")
        plan = Plan(name=name, **table)
        if min(plan.rate_per_second, plan.window_limit, plan.window_seconds, plan.monthly_units) <= 0:
            raise PlanError(f"plan {name!r}: limits must be positive")
        if plan.burst < DEAREST_CALL_UNITS:
            raise PlanError(f"plan {name!r}: burst must be at least {DEAREST_CALL_UNITS}")
        plans[name] = plan
    if len(plans) == 1:
        raise PlanError("no plans defined")
    return plans


def load_plans(path: str | Path) -> dict[str, Plan]:
    """Read a TOML plan file."""
    try:
        document = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise PlanError(f"{path}: {error}") from error
    return parse_plans(document)

"""TollKeeper: rate limits and monthly quotas in front of an HTTP API."""

from tollkeeper.keys import Identity, InvalidKey, Keyring
from tollkeeper.plans import ANONYMOUS, DEFAULT_PLANS, Plan, load_plans
from tollkeeper.service import Decision, QuotaService
from tollkeeper.store import Store

__all__ = [
    "ANONYMOUS",
    "DEFAULT_PLANS",
    "Decision",
    "Identity",
    "InvalidKey",
    "Keyring",
    "Plan",
    "QuotaService",
    "Store",
    "load_plans",
]

__version__ = "1.4.0"
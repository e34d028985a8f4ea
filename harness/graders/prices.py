"""What does a judge's request cost? By the list prices of common/judge/prices.py; default ids are in model_ids.py."""

from __future__ import annotations

from common.judge.prices import price_of
from harness.models import TokenUsage


def request_cost(model: str, usage: TokenUsage) -> float | None:
    """US$ of one request; None for a model whose price is not known here."""
    prompt = usage.total_tokens_with_cache - usage.output_tokens
    price = price_of(model, prompt)
    return price.of(prompt, usage.output_tokens) if price else None

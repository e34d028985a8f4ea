"""What does a judge cost? List prices by model id; default ids and retirement dates are in model_ids.py."""

from __future__ import annotations

from dataclasses import dataclass

from harness.models import TokenUsage


@dataclass(frozen=True)
class Price:
    """US$ per million tokens, without caching, which the judge does not ask for."""

    input: float
    output: float


# As published by the provider in November 2026.
PRICES = {
    "claude-haiku-5-5": Price(0.10, 0.50),
    "claude-haiku-4-5": Price(1, 5),
    "claude-haiku-4-5-20251001": Price(1, 5),
    "claude-sonnet-5-5": Price(2, 10),
    "claude-sonnet-5": Price(2, 10),
    "claude-sonnet-4-6": Price(3, 15),
    "claude-opus-5-5": Price(4, 20),
    "claude-opus-5": Price(5, 25),
    "claude-opus-4-8": Price(5, 25),
    "claude-opus-4-7": Price(5, 25),
    "claude-opus-4-6": Price(5, 25),
    "claude-fable-5-1": Price(10, 50),
}
LONG_PROMPT_TOKENS = 100_000
LONG_PROMPT_PRICES = {"claude-haiku-5-5": Price(0.50, 2.50)}
"""Prices of requests whose prompt is longer than that, for the models that have a second price."""


def request_cost(model: str, usage: TokenUsage) -> float | None:
    """US$ of one request; None for a model whose price is not known here."""
    long = usage.total_tokens_with_cache - usage.output_tokens > LONG_PROMPT_TOKENS
    price = (LONG_PROMPT_PRICES.get(model) if long else None) or PRICES.get(model)
    if price is None:
        return None
    prompt = usage.total_tokens_with_cache - usage.output_tokens
    return (prompt * price.input + usage.output_tokens * price.output) / 1e6

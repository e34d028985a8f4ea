"""List prices of models, by model id."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Price:
    """US$ per million tokens, without caching, which a judge does not ask for."""

    input: float
    output: float

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """Return the cost of a request in US$."""
        return (input_tokens * self.input + output_tokens * self.output) / 1e6


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
"""Prices of requests with more than LONG_PROMPT_TOKENS prompt tokens, for models that have a second price."""


def price_of(model: str, prompt_tokens: int = 0) -> Price | None:
    """Return the price of a request with this many prompt tokens, or None for an unknown model."""
    long = LONG_PROMPT_PRICES.get(model) if prompt_tokens > LONG_PROMPT_TOKENS else None
    return long or PRICES.get(model)

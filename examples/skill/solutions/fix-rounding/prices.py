"""Prices of a shop, in euros."""


def total(prices: list[float]) -> float:
    """Return the sum of the prices, to the cent."""
    return round(sum(prices), 2)

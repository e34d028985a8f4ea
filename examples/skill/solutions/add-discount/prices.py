"""Prices of a shop, in euros."""


def total(prices: list[float]) -> float:
    """Return the sum of the prices, to the cent."""
    return sum(prices)


def discounted(price: float, percent: float) -> float:
    """Return the price less a percentage, to the cent."""
    if not 0 <= percent <= 100:
        raise ValueError(f"{percent} is not from 0 to 100")
    return round(price * (100 - percent) / 100, 2)

"""Amounts: text to whole cents and back, and splitting without losing a cent."""

from decimal import ROUND_HALF_UP, Decimal, InvalidOperation


def parse(text: str) -> int:
    """Cents of a text such as "12.50", "-3" or "1,250.00"."""
    cleaned = text.strip().replace(",", "")
    try:
        value = Decimal(cleaned)
    except InvalidOperation:
        raise ValueError(f"not an amount: {text!r}") from None
    return int((value * 100).quantize(Decimal(1), rounding=ROUND_HALF_UP))


def show(cents: int) -> str:
    """Text of an amount, for example "-1,250.00"."""
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100:,}.{abs(cents) % 100:02d}"


def split(cents: int, parts: int) -> list[int]:
    """Split an amount into `parts` shares that add up to it and differ by one cent at most.

    Shares of larger absolute value come first.
    """
    if parts < 1:
        raise ValueError("parts must be at least 1")
    sign = -1 if cents < 0 else 1
    share, rest = divmod(abs(cents), parts)
    return [sign * (share + (index < rest)) for index in range(parts)]

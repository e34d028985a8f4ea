"""Which models does the harness use by default, and which ones has their provider retired?"""

from __future__ import annotations

from datetime import date

DEFAULT_AGENT_MODEL = "claude-sonnet-5-5"
DEFAULT_JUDGE_MODEL = "claude-haiku-5-5"

# Last day of service as announced by the provider (anthropic SDK 2.12.0).
END_OF_LIFE = {
    "claude-3-sonnet-20240229": date(2025, 7, 21),
    "claude-3-opus-20240229": date(2026, 1, 5),
    "claude-3-7-sonnet-latest": date(2026, 2, 19),
    "claude-3-7-sonnet-20250219": date(2026, 2, 19),
    "claude-3-5-haiku-latest": date(2026, 2, 19),
    "claude-3-5-haiku-20241022": date(2026, 2, 19),
    "claude-opus-4-0": date(2026, 6, 15),
    "claude-opus-4-20250514": date(2026, 6, 15),
    "claude-sonnet-4-0": date(2026, 6, 15),
    "claude-sonnet-4-20250514": date(2026, 6, 15),
    "claude-mythos-preview": date(2026, 6, 30),
    "claude-sonnet-4-5": date(2026, 11, 30),
    "claude-sonnet-4-5-20250929": date(2026, 11, 30),
}


def retirement_warning(model: str, today: date) -> str | None:
    """Return a one-line warning if `model` is retired or retires within 60 days of `today`, else None."""
    end = END_OF_LIFE.get(model)
    if end is None or (end - today).days > 60:
        return None
    verb = "was retired on" if end < today else "retires on"
    return f"model {model} {verb} {end.isoformat()}; name another one, for example {DEFAULT_AGENT_MODEL}"

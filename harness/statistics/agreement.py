"""Do two raters agree beyond chance?"""

from __future__ import annotations

from collections.abc import Sequence

from harness.statistics.resampling import TIE


def cohen_kappa(labels_a: Sequence[bool], labels_b: Sequence[bool]) -> float | None:
    """Return two raters' agreement beyond chance, -1 to 1; None without labels or when all are equal.

    Cohen 1960, "A coefficient of agreement for nominal scales", Educ. Psychol. Meas. 20, 37-46.
    """
    count = len(labels_a)
    if count == 0:
        return None
    observed = sum(a == b for a, b in zip(labels_a, labels_b, strict=True)) / count
    rate_a, rate_b = sum(labels_a) / count, sum(labels_b) / count
    chance = rate_a * rate_b + (1 - rate_a) * (1 - rate_b)
    return None if chance > 1 - TIE else (observed - chance) / (1 - chance)

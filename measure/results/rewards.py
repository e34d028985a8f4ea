"""Which of a verifier's rewards counts, and what it means as a score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from locobench.shared.errors import InputError


class RewardError(InputError):
    """The verifier's reward cannot be used: it is under another key, or out of range."""


@dataclass(frozen=True)
class RewardScale:
    """Which of a verifier's rewards counts, and the range that becomes 0 to 1."""

    key: str = "reward"
    low: float = 0.0
    high: float = 1.0

    def of(self, rewards: Mapping[str, float], trial: Path) -> float | None:
        """Return the reward of the trial in a folder, 0 to 1, or None for none; RewardError if it is out of range."""
        reward = rewards.get(self.key)
        where = f"{trial / 'result.json'}: verifier_result.rewards.{self.key}"
        return None if reward is None else self.scaled(reward, where)

    def scaled(self, reward: float, where: str) -> float:
        """Return the share, 0 to 1, of the range that a reward reaches; RewardError, with `where`, if it is outside."""
        if not self.low <= reward <= self.high:
            raise RewardError(f"{where} is {reward:g}, not between {self.low:g} and {self.high:g}")
        return (reward - self.low) / (self.high - self.low)


BY_NAME = RewardScale()
"""The reward that Harbor's own examples give: `reward`, from 0 to 1."""

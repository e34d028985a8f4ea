"""The claim that a comparison can support, by the number of its tasks' repositories: known before any run."""

from __future__ import annotations

REPOSITORIES_FOR_ALL = 7
"""The fewest repositories that can stand for others. A sign-flip test over six needs all of them to agree."""


def kind_of_claim(repositories: int) -> str:
    """Return what a comparison over tasks of so many repositories is about, such as `these 3 repositories`."""
    if repositories >= REPOSITORIES_FOR_ALL:
        return f"repositories like these {repositories}"
    return "this repository alone" if repositories == 1 else f"these {repositories} repositories alone"


def claim_beforehand(repositories: int) -> str:
    """Return a sentence on what a comparison over the tasks will be about, and what would widen it."""
    text = f"A comparison of these tasks speaks for {kind_of_claim(repositories)}"
    if repositories >= REPOSITORIES_FOR_ALL:
        return f"{text}."
    return f"{text}; to speak for others, take tasks from {REPOSITORIES_FOR_ALL} repositories or more."

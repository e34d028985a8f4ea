"""Asks several judges many questions: each judge and repeat once, within a budget, with a journal."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product

from harness.graders.service import Question, Reply, Service
from locobench.scoring.judge.evidence import CHARACTERS_A_TOKEN
from locobench.scoring.judge.prices import price_of
from locobench.shared.errors import InputError
from measure.results.journal import Journal
from measure.secrets.redaction import Redactor

EXPECTED_REPLY_TOKENS = 2_500
"""Tokens assumed per verdict, thinking included, to estimate its cost. It does not limit replies."""
MOST_FAILURES = 5
"""Asking stops after this many failures in a row: the next requests would most likely fail too, and still cost."""


class PanelReply(Reply):
    """A line of the journal: one judge's reply to one question."""

    task: str
    digest: str
    version: str
    judge: str
    repeat: int
    timestamp: datetime

    @property
    def key(self) -> tuple[str, str, str, int]:
        """Which question, judge and repeat this replies to."""
        return (self.digest, self.version, self.judge, self.repeat)


Callback = Callable[[PanelReply, int, int], None]
"""Called after every reply with it, the number of replies so far and the total number."""


class PanelStopped(Exception):
    """Asking stopped early; the replies so far are in the journal."""


@dataclass
class Panel:
    """Asks judges, one request at a time. Each reply is on disk before the next request starts.

    InputError if `max_cost_usd` is set, but a judge's price is not known.
    """

    service: Service
    judges: Sequence[str]
    repeats: int
    """Verdicts per judge and question."""
    earlier: Sequence[PanelReply]
    """The replies in the journal."""
    journal: Journal[PanelReply] | None = None
    """Needed to ask."""
    max_cost_usd: float | None = None
    """Once the journal's total has reached this, nothing more is asked."""

    def __post_init__(self) -> None:
        self.judges = list(dict.fromkeys(self.judges))
        self._redactor = Redactor(os.environ, values=[self.service.key])
        # A later line replaces an earlier one with the same key, which had no verdict.
        self._verdicts = {entry.key: entry for entry in self.earlier}
        self.spent_usd = sum(entry.cost_usd or 0.0 for entry in self.earlier)
        """The known cost of all replies in the journal in US$, including those without a verdict."""
        unknown = [judge for judge in self.judges if price_of(judge) is None]
        if self.max_cost_usd is not None and unknown:
            raise InputError(f"the price of {unknown[0]} is not known, so a cost limit cannot be enforced")

    def asks(self, questions: Iterable[Question]) -> list[tuple[Question, str, int]]:
        """Return each question with each judge and repeat; equal answers to a task are judged once."""
        different = {(question.digest, question.version): question for question in questions}.values()
        return list(product(different, self.judges, range(self.repeats)))

    def open_asks(self, questions: Iterable[Question]) -> list[tuple[Question, str, int]]:
        """Return those of `asks` that have no verdict yet."""
        return [ask for ask in self.asks(questions) if self._reply(*ask).verdict is None]

    def estimate(self, questions: Iterable[Question]) -> tuple[int, float | None]:
        """Return how many tokens it takes to ask what is left, and the cost in US$; None if a price is not known."""
        left = [(judge, sum(map(len, question.texts()))) for question, judge, _ in self.open_asks(questions)]
        tokens = [(judge, characters // CHARACTERS_A_TOKEN) for judge, characters in left]
        costs = [price.of(n, EXPECTED_REPLY_TOKENS) for judge, n in tokens if (price := price_of(judge, n))]
        return sum(n for _, n in tokens), sum(costs) if len(costs) == len(tokens) else None

    def ask(self, questions: Sequence[Question], callback: Callback | None = None) -> None:
        """Ask every question that has no verdict in the journal.

        PanelStopped if the budget is used up, further requests would be refused, or MOST_FAILURES requests in a row
        failed. InputError if the disk has no room for a reply.
        """
        assert self.journal is not None
        left, total = self.open_asks(questions), len(self.asks(questions))
        failures = 0
        for number, (question, judge, repeat) in enumerate(left, start=total - len(left) + 1):
            if self.max_cost_usd is not None and self.spent_usd >= self.max_cost_usd:
                raise PanelStopped(f"the budget of ${self.max_cost_usd:g} is used up (${self.spent_usd:.4f} spent)")
            self.journal.reserve()  # before it is paid for
            said = self.service.ask(question, judge)
            # A judge may quote secrets from an answer or from the code.
            clean = {"verdict": self._redactor.json(said.verdict), "error": self._redactor(said.error)}
            reply = PanelReply(
                **{**dict(said), **clean},
                task=question.task,
                digest=question.digest,
                version=question.version,
                judge=judge,
                repeat=repeat,
                timestamp=datetime.now(UTC),
            )
            self.journal.append(reply)
            self._verdicts[reply.key] = reply
            self.spent_usd += reply.cost_usd or 0.0
            if callback is not None:
                callback(reply, number, total)
            failures = 0 if reply.verdict is not None else failures + 1
            if reply.error_kind.stops_matrix:
                raise PanelStopped(f"{judge}: {reply.error}")
            if failures == MOST_FAILURES:
                raise PanelStopped(f"{failures} requests in a row gave no verdict; {judge}: {reply.error}")

    def replies(self, question: Question) -> list[Reply]:
        """Return the replies to a question, judge by judge; a missing reply has the error "not asked"."""
        return [self._reply(*ask) for ask in self.asks([question])]

    def _reply(self, question: Question, judge: str, repeat: int) -> Reply:
        key = (question.digest, question.version, judge, repeat)
        return self._verdicts.get(key) or Reply(error="not asked")

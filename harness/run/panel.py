"""Asks several judges many questions: each judge and repeat once, within a budget, with a journal."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from harness.errors import InputError
from harness.graders.service import Question, Reply, Service
from harness.host.redaction import Redactor
from locobench.scoring.judge.evidence import CHARACTERS_A_TOKEN
from locobench.scoring.judge.prices import price_of

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
    def key(self) -> Key:
        """Which question, judge and repeat this replies to."""
        return (self.digest, self.version, self.judge, self.repeat)


Key = tuple[str, str, str, int]
Callback = Callable[[PanelReply, int, int], None]
"""Called after every reply with it, the number of replies so far and the total number."""


class PanelStopped(Exception):
    """Asking stopped early; the replies so far are in the journal."""


@dataclass(frozen=True)
class Estimate:
    """How much is left to ask, and what it may cost."""

    calls: int
    done: int
    input_tokens: int
    cost_usd: float | None
    """None if a judge's price is not known."""


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
    append: Callable[[PanelReply], None]
    """Writes a reply to the journal, and returns once it is on disk."""
    max_cost_usd: float | None = None
    """Limit for the journal's total; no request is made that may exceed it."""

    def __post_init__(self) -> None:
        self.judges = list(dict.fromkeys(self.judges))
        self._redactor = Redactor(os.environ, values=[self.service.key])
        # A later line replaces an earlier one with the same key, which had no verdict.
        self._verdicts = {entry.key: entry for entry in self.earlier}
        self.spent_usd = sum(entry.cost_usd or 0.0 for entry in self.earlier)
        """The known cost of all replies in the journal in US$, including those without a verdict."""
        unknown = [judge for judge in self.judges if price_of(judge) is None]
        if self.max_cost_usd is not None and unknown:
            raise InputError(f"the price of {unknown[0]} is not known, so that --max-cost-usd cannot be kept")

    def estimate(self, questions: Iterable[Question]) -> Estimate:
        """Estimate what the open questions will cost."""
        done = calls = tokens = 0
        cost: float | None = 0.0
        for question in _different(questions):
            left = [judge for judge, repeat in self._asks() if not self._has(question, judge, repeat)]
            done += len(self.judges) * self.repeats - len(left)
            calls += len(left)
            if left:
                prompt = _tokens(question)
                tokens += prompt * len(left)
                for judge in left:
                    price = price_of(judge, prompt)
                    cost = None if cost is None or price is None else cost + price.of(prompt, EXPECTED_REPLY_TOKENS)
        return Estimate(calls, done, tokens, cost)

    def ask(self, questions: Iterable[Question], callback: Callback | None = None) -> None:
        """Ask every question that has no verdict in the journal.

        PanelStopped if the budget is used up, further requests would be refused, or MOST_FAILURES requests in a row
        failed.
        """
        different = _different(questions)
        total = len(different) * len(self.judges) * self.repeats
        done = failures = 0
        for question in different:
            for judge, repeat in self._asks():
                done += 1
                if self._has(question, judge, repeat):
                    continue
                self._keep_budget(question, judge)
                reply = self._without_secrets(self.service.ask(question, judge))
                verdict = PanelReply(
                    **dict(reply),
                    task=question.task,
                    digest=question.digest,
                    version=question.version,
                    judge=judge,
                    repeat=repeat,
                    timestamp=datetime.now(UTC),
                )
                self.append(verdict)
                self._verdicts[verdict.key] = verdict
                self.spent_usd += verdict.cost_usd or 0.0
                if callback is not None:
                    callback(verdict, done, total)
                failures = 0 if reply.verdict is not None else failures + 1
                if reply.error_kind.stops_matrix:
                    raise PanelStopped(f"{judge}: {reply.error}")
                if failures == MOST_FAILURES:
                    raise PanelStopped(f"{failures} requests in a row brought no verdict; {judge}: {reply.error}")

    def replies(self, question: Question) -> list[Reply]:
        """Return the replies to a question, judge by judge; a missing reply has the error "not asked"."""
        nothing = Reply(error="not asked")
        return [self._verdicts.get(_key(question, judge, repeat), nothing) for judge, repeat in self._asks()]

    def points(self, questions: Iterable[Question]) -> dict[str, dict[str, list[float]]]:
        """Return the main grades (0 to 100) by judge and question digest."""
        found: dict[str, dict[str, list[float]]] = {judge: defaultdict(list) for judge in self.judges}
        for question in _different(questions):
            for (judge, _), reply in zip(self._asks(), self.replies(question), strict=True):
                if reply.verdict is not None:
                    found[judge][question.digest].append(round(100 * question.score(reply.verdict), 6))
        return found

    def _without_secrets(self, reply: Reply) -> Reply:
        """Redact secrets that a judge quotes from an answer or from the code."""
        return reply.model_copy(
            update={"verdict": self._redactor.json(reply.verdict), "error": self._redactor(reply.error)}
        )

    def _asks(self) -> list[tuple[str, int]]:
        return [(judge, repeat) for judge in self.judges for repeat in range(self.repeats)]

    def _has(self, question: Question, judge: str, repeat: int) -> bool:
        verdict = self._verdicts.get(_key(question, judge, repeat))
        return verdict is not None and verdict.verdict is not None

    def _keep_budget(self, question: Question, judge: str) -> None:
        if self.max_cost_usd is None:
            return
        prompt = _tokens(question)
        price = price_of(judge, prompt)
        next_one = price.of(prompt, EXPECTED_REPLY_TOKENS) if price else 0.0
        if self.spent_usd + next_one > self.max_cost_usd:
            raise PanelStopped(
                f"the budget of ${self.max_cost_usd:g} is used up: ${self.spent_usd:.4f} spent, the next verdict may"
                f" cost ${next_one:.4f}"
            )


def _key(question: Question, judge: str, repeat: int) -> Key:
    return (question.digest, question.version, judge, repeat)


def _different(questions: Iterable[Question]) -> list[Question]:
    """Drop duplicate questions: equal answers to a task are judged once."""
    return list({(question.digest, question.version): question for question in questions}.values())


def _tokens(question: Question) -> int:
    """Estimate the tokens of a request, erring on the high side; 0 if no request will be made."""
    try:
        return sum(map(len, question.texts())) // CHARACTERS_A_TOKEN
    except InputError:
        return 0

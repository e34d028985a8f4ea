"""How judges are asked about many things: each judge and repeat once, within a budget, with a journal."""

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
"""Of a verdict with its checks, thinking included: an assumption of the estimate, and no limit."""
MOST_FAILURES = 5
"""In a row, whatever they are: then the service or the model is not up to it, and every further one costs."""


class Verdict(Reply):
    """A line of the journal: what came of asking one judge once about one thing."""

    task: str
    digest: str
    version: str
    judge: str
    repeat: int
    timestamp: datetime

    @property
    def key(self) -> Key:
        """What this stands for."""
        return (self.digest, self.version, self.judge, self.repeat)


Key = tuple[str, str, str, int]
Callback = Callable[[Verdict, int, int], None]
"""Called after every verdict with the number of those that are there and of all."""


class PanelStopped(Exception):
    """The judges were not asked about everything; what they said is in the journal."""


@dataclass(frozen=True)
class Estimate:
    """What is left to be asked and may cost."""

    calls: int
    done: int
    input_tokens: int
    cost_usd: float | None
    """None when the price of a judge is not known."""


class Panel:
    """Asks judges, one request at a time: each verdict is on disk before the next request starts."""

    def __init__(
        self,
        service: Service,
        judges: Sequence[str],
        repeats: int,
        earlier: Sequence[Verdict],
        append: Callable[[Verdict], None],
        *,
        max_cost_usd: float | None = None,
    ) -> None:
        """Set up the judges.

        Args:
            service: where all of them are asked.
            judges: models.
            repeats: verdicts of each judge on each question.
            earlier: what the journal holds.
            append: puts a verdict into the journal, and returns when the disk has it.
            max_cost_usd: no request is made that may bring the journal's total above it.

        Raises:
            InputError: the budget cannot be kept, since the price of a judge is not known.
        """
        self.service = service
        self.judges = list(dict.fromkeys(judges))
        self.repeats = repeats
        self._append = append
        self._redactor = Redactor(os.environ, values=[service.key])
        self._max_cost_usd = max_cost_usd
        # A later line of the same key mends an earlier one that holds no verdict.
        self._verdicts = {entry.key: entry for entry in earlier}
        self._spent = sum(entry.cost_usd or 0.0 for entry in earlier)
        unknown = [judge for judge in self.judges if price_of(judge) is None]
        if max_cost_usd is not None and unknown:
            raise InputError(f"the price of {unknown[0]} is not known, so that --max-cost-usd cannot be kept")

    @property
    def spent_usd(self) -> float:
        """Known cost of all verdicts in the journal, those without a result included."""
        return self._spent

    def estimate(self, questions: Iterable[Question]) -> Estimate:
        """What asking all that is left may cost."""
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
        """Ask what the journal holds no verdict on.

        Raises:
            PanelStopped: the budget is used up, every further request would be refused, or MOST_FAILURES in a row
                brought nothing.
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
                verdict = Verdict(
                    **dict(reply),
                    task=question.task,
                    digest=question.digest,
                    version=question.version,
                    judge=judge,
                    repeat=repeat,
                    timestamp=datetime.now(UTC),
                )
                self._append(verdict)
                self._verdicts[verdict.key] = verdict
                self._spent += verdict.cost_usd or 0.0
                if callback is not None:
                    callback(verdict, done, total)
                failures = 0 if reply.verdict is not None else failures + 1
                if reply.error_kind.stops_matrix:
                    raise PanelStopped(f"{judge}: {reply.error}")
                if failures == MOST_FAILURES:
                    raise PanelStopped(f"{failures} requests in a row brought no verdict; {judge}: {reply.error}")

    def replies(self, question: Question) -> list[Reply]:
        """What the judges said about a question, judge by judge; one that was not asked said nothing."""
        nothing = Reply(error="not asked")
        return [self._verdicts.get(_key(question, judge, repeat), nothing) for judge, repeat in self._asks()]

    def points(self, questions: Iterable[Question]) -> dict[str, dict[str, list[float]]]:
        """Judge to question's digest to the main grades of its verdicts, 0 to 100."""
        found: dict[str, dict[str, list[float]]] = {judge: defaultdict(list) for judge in self.judges}
        for question in _different(questions):
            for (judge, _), reply in zip(self._asks(), self.replies(question), strict=True):
                if reply.verdict is not None:
                    found[judge][question.digest].append(question.points(reply.verdict))
        return found

    def _without_secrets(self, reply: Reply) -> Reply:
        """What a judge said, without the secrets it quotes from an answer or from the code."""
        return reply.model_copy(
            update={"verdict": self._redactor.json(reply.verdict), "error": self._redactor(reply.error)}
        )

    def _asks(self) -> list[tuple[str, int]]:
        return [(judge, repeat) for judge in self.judges for repeat in range(self.repeats)]

    def _has(self, question: Question, judge: str, repeat: int) -> bool:
        verdict = self._verdicts.get(_key(question, judge, repeat))
        return verdict is not None and verdict.verdict is not None

    def _keep_budget(self, question: Question, judge: str) -> None:
        if self._max_cost_usd is None:
            return
        prompt = _tokens(question)
        price = price_of(judge, prompt)
        next_one = price.of(prompt, EXPECTED_REPLY_TOKENS) if price else 0.0
        if self._spent + next_one > self._max_cost_usd:
            raise PanelStopped(
                f"the budget of ${self._max_cost_usd:g} is used up: ${self._spent:.4f} spent, the next verdict may cost"
                f" ${next_one:.4f}"
            )


def _key(question: Question, judge: str, repeat: int) -> Key:
    return (question.digest, question.version, judge, repeat)


def _different(questions: Iterable[Question]) -> list[Question]:
    """Each question once: equal answers to one task are judged once."""
    return list({(question.digest, question.version): question for question in questions}.values())


def _tokens(question: Question) -> int:
    """Tokens of a request, rather too many than too few; none where there will be no request."""
    try:
        return sum(map(len, question.texts())) // CHARACTERS_A_TOKEN
    except InputError:
        return 0

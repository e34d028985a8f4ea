"""Whether a trial is measured, lost or a zero: decided here alone; docs/HARBOR_JOBS.md shows the table.

What happened is written in the trial, in one of its steps, in the agent's own log, or in the output of its tests. A
rule that reads free text is a guess, and the error or doubt that a reader sees says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from locobench.harbor.agent_log import LogError
from locobench.harbor.record import TrialRecord
from locobench.harbor.trial import ExceptionInfo
from measure.records import ErrorKind, Outcome
from measure.records.outcomes import ASSISTANT_ERRORS, KIND_OF_STATUS, TERMINAL_REASONS, Ending

ERROR_CHARS = 400
"""Characters kept of an error's message."""

STOPPED = (Outcome.AGENT_ERROR, ErrorKind.AGENT_STOPPED)
_ENDINGS: dict[tuple[Outcome, ErrorKind], str] = {
    # The rewards of these two count in Harbor, too.
    (Outcome.TIMEOUT, ErrorKind.TIME_LIMIT): "AgentTimeoutError",
    STOPPED: "NonZeroAgentExitCodeError ContextWindowExceededError ContextLengthExceededError OutputTokenExceededError "
    "OutputLengthExceededError AgentSafetyRefusalError ContentPolicyViolationError",
    # All others are lost; these have a cure of their own.
    (Outcome.INFRA_ERROR, ErrorKind.AUTH): "AgentAuthenticationError AuthenticationError PermissionDeniedError",
    (Outcome.INFRA_ERROR, ErrorKind.MODEL_NOT_FOUND): "ModelNotFoundError NotFoundError",
    (Outcome.INFRA_ERROR, ErrorKind.RATE_LIMIT): "ApiRateLimitError ApiUsageLimitError RateLimitError",
    (Outcome.INFRA_ERROR, ErrorKind.OVERLOADED): "ApiOverloadedError ServiceUnavailableError",
    (Outcome.INFRA_ERROR, ErrorKind.CREDIT): "BudgetExceededError",
    (Outcome.INFRA_ERROR, ErrorKind.INTERRUPTED): "CancelledError",
    (Outcome.INFRA_ERROR, ErrorKind.KILLED): "MemoryLimitExceededError SandboxLikelyOutOfMemoryError "
    "GKEPodNotFoundError",
    (Outcome.SETUP_ERROR, ErrorKind.FIXTURE): "AgentSetupTimeoutError EnvironmentStartTimeoutError HealthcheckError "
    "SandboxBuildFailedError",
    (Outcome.INFRA_ERROR, ErrorKind.GRADING): "VerifierTimeoutError RewardFileNotFoundError RewardFileEmptyError "
    "VerifierOutputParseError AddTestsDirError DownloadVerifierDirError RegradeError",
}
EXCEPTIONS = {name: ending for ending, names in _ENDINGS.items() for name in names.split()}
"""What an exception says about the agent; one that is not listed is an infrastructure error."""

KILLED = re.compile(r"\b(?:(?:exit(?:ed)?(?: with)?(?: code| status)?:?|rc=?) ?\(?137\b|OOMKilled\b|oom-kill|Killed\b)")
"""In an exception's message: something outside the agent ended its process (128 + SIGKILL)."""
OWN_LIMIT = re.compile(
    r"max(?:imum)?[ _]turns|turn limit|token limit|context[ _](?:window|length)|too long|content.(?:filter|policy)"
    r"|safety",
    re.IGNORECASE,
)
"""In the error of an agent's log: it ended by its own doing."""

NOT_REACHED = ("failed", "needs-auth")
"""What Claude Code calls an MCP server that it has no tools of."""

REPORT = re.compile(
    r"^(?:=+ .*\b(?:passed|failed|errors?|skipped)\b.*=+|Ran \d+ tests?\b.*|FAIL(?:ED)?\b.*|OK\b.*|--- (?:PASS|FAIL).*"
    r"|(?:ok|PASS)\s.*|not ok \d.*|test result: .*|Tests?:.*\d.*|\d+ (?:passed|failed|passing|failing|examples?)\b.*"
    r"|BUILD (?:SUCCESS|FAIL).*)$",
    re.MULTILINE,
)
"""A line by which a test runner says that tests did run."""

TRACEBACK = "Traceback (most recent call last):"
CRASH = re.compile(
    rf'{re.escape(TRACEBACK)}\n\s+File "(?P<file>[^"\n]*)"[^\n]*\n(?:[ \t]+[^\n]*\n)*'
    r"(?P<error>[A-Za-z_][\w.]*(?:: .*)?)\s*\Z",
    re.DOTALL,
)
"""A traceback that ends an output: the file in which it begins, and its exception."""
AGENTS_FAULT = re.compile(
    r"AssertionError\b|(?:ModuleNotFound|Import|Syntax|UnicodeDecode|json\.decoder\.JSONDecode|JSONDecode)Error\b"
    r"|subprocess\.CalledProcessError\b|(?:FileNotFound|NotADirectory|IsADirectory)Error: .*'(?!/tests/)"
)
"""An exception that tests raise because of what the agent left: a wrong value, or a missing or broken file."""

NOT_STARTED = re.compile(
    r"could not resolve host|temporary failure (?:in name resolution|resolving)|unable to resolve host"
    r"|failed to connect to|connection (?:timed out|refused)|network is unreachable|failed to fetch|unable to fetch"
    r"|could not install packages|no matching distribution found|npm err! (?:network|code e)|no module named pytest"
    r"|(?:uvx?|pip3?|pytest|python3?|node|npm|npx|curl|wget|apt-get|apt|bash|cargo|go|mvn)"
    r": (?:command )?not found",
    re.IGNORECASE,
)
"""A line by which the preparation of tests fails: no network, or a program that is not there."""


def ending_of(trial: TrialRecord, reward: float | None, *, explained: bool) -> Ending:
    """Decide how a trial ended: the first reason found to call it lost, else the agent's own failure, else completed.

    `reward` is 0 to 1, or None without one under the key that counts; `explained` says that the verifier reported what
    it is made of, and so ran to its end.
    """
    endings = list(_reasons(trial, reward, explained=explained))
    lost = next((ending for ending in endings if not ending.outcome.measured), None)
    return lost or next(iter(endings), Ending(doubt="" if reward else _doubt(trial)))


def _reasons(trial: TrialRecord, reward: float | None, *, explained: bool) -> Iterator[Ending]:
    """Yield every reason not to call a trial completed, the surest first."""
    logs = trial.actions.logs
    if trial.problem:
        yield Ending(Outcome.INFRA_ERROR, ErrorKind.UNREADABLE, trial.problem)
    exceptions = [_of_exception(trial, exception, reward) for exception in trial.result.exceptions]
    yield from exceptions
    if not trial.result.is_utility_agent:
        yield from (_of_log(log.error) for log in logs if log.error and not log.error.guessed)
        if _never_ran(trial, reward):
            said = next((f": {log.error.text}" for log in logs if log.error), "")
            yield Ending(Outcome.INFRA_ERROR, ErrorKind.API_ERROR, f"the agent never ran: no token and no turn{said}")
        yield from _of_servers(trial)
    if not exceptions and trial.container_gone:
        error = "the agent's container was gone before the agent was graded"
        yield Ending(Outcome.INFRA_ERROR, ErrorKind.KILLED, error)
    if reward is None and (trial.result.rewards or not exceptions):
        yield Ending(Outcome.INFRA_ERROR, ErrorKind.GRADING, _without_reward(trial))
    if not reward and not explained and (crash := _crash(trial.output)):
        yield Ending(Outcome.INFRA_ERROR, ErrorKind.GRADING, f"the verifier failed, judging by its output: {crash}")
    if not reward and not explained and (line := _not_started(trial.output)):
        error = f"the tests never started, judging by their output: {line}"
        yield Ending(Outcome.INFRA_ERROR, ErrorKind.GRADING, error)


def _of_exception(trial: TrialRecord, exception: ExceptionInfo, reward: float | None) -> Ending:
    name, message = exception.exception_type, exception.exception_message or ""
    error = f"{name}: {_short(message)}"
    if name == "RewardFileNotFoundError" and not trial.tests_started:
        error = f"the tests never started, so the container was gone; {error}"
        return Ending(Outcome.INFRA_ERROR, ErrorKind.KILLED, error)
    outcome, kind = EXCEPTIONS.get(name, (Outcome.INFRA_ERROR, ErrorKind.API_ERROR))
    if exception.user_lets_reward_count and reward is not None:
        return Ending(*(STOPPED if not outcome.measured else (outcome, kind)), error)
    told = message
    if message.startswith("Command failed (exit "):  # the command follows, which holds the question
        told = message.partition(":")[0] + message.rpartition("stderr:")[2]
    if kind in (ErrorKind.AGENT_STOPPED, ErrorKind.API_ERROR) and KILLED.search(told):
        return Ending(Outcome.INFRA_ERROR, ErrorKind.KILLED, error)
    no_trace = name == "NonZeroAgentExitCodeError" and reward is None
    if outcome.measured and (exception.reward_counts is False or no_trace):
        return Ending(Outcome.INFRA_ERROR, ErrorKind.API_ERROR, error)
    return Ending(outcome, kind, error)


def _of_servers(trial: TrialRecord) -> Iterator[Ending]:
    """Yield an ending if a server that the agent was to have was down when it started, and no call of it succeeded."""
    for name in trial.servers or ():
        status = next((log.servers[name] for log in trial.actions.logs if name in log.servers), "")
        reached = any(call.error is None and call.name.startswith(f"mcp__{name}__") for call in trial.actions.calls)
        if status in NOT_REACHED and not reached:
            yield Ending(
                Outcome.SETUP_ERROR, ErrorKind.NOT_LOADED, f"the agent started without MCP server {name} ({status})"
            )


def _of_log(error: LogError) -> Ending:
    """Return how a run ended whose agent's log ends with an error, by Claude Code's own reasons where it gives them."""
    outcome, kind = TERMINAL_REASONS.get(error.reason, (Outcome.INFRA_ERROR, ErrorKind.API_ERROR))
    if error.reason not in TERMINAL_REASONS and error.status in (None, 400) and OWN_LIMIT.search(error.text):
        outcome, kind = STOPPED
    if outcome is Outcome.COMPLETED:
        outcome, kind = Outcome.INFRA_ERROR, ErrorKind.API_ERROR
    if kind is ErrorKind.API_ERROR:
        kind = ASSISTANT_ERRORS.get(error.reason) or KIND_OF_STATUS.get(error.status or 0) or kind
    return Ending(outcome, kind, f"the agent's log ends with an error: {_short(error.text)}")


def _never_ran(trial: TrialRecord, reward: float | None) -> bool:
    """Return whether there is no turn, and the tokens that were counted are none, or the agent's log has no event.

    An agent from outside Harbor may count none by mistake; what earned a reward has run.
    """
    spent, actions = trial.result.spent, trial.actions
    silent = spent.n_input_tokens is None and all(log.is_silent for log in actions.logs)
    nothing = (spent.is_nothing or silent) and not any(log.cost_usd for log in actions.logs)
    return nothing and not actions.turns and not (trial.result.agent_config.import_path and reward)


def _without_reward(trial: TrialRecord) -> str:
    others = ", ".join(repr(name) for name in sorted(trial.result.rewards))
    if others:
        return f"the verifier gave no reward under the key that counts; its keys are {others}"
    last = _last_line(trial.output)
    return "the verifier gave no reward" + (f" ({last})" if last else "")


def _crash(output: str) -> str:
    """Return the exception of a traceback of the verifier itself at the end of its output; empty for none."""
    start = output.rfind(TRACEBACK)
    found = CRASH.match(output[start:]) if start >= 0 and not REPORT.search(output) else None
    if not found or not found["file"].startswith("/tests/") or AGENTS_FAULT.match(found["error"]):
        return ""
    return _short(found["error"].splitlines()[-1])


def _not_started(output: str) -> str:
    """Return the last line that says so if tests never started; empty otherwise."""
    lines = [line for line in output.splitlines() if NOT_STARTED.search(line)]
    return _short(lines[-1]) if lines and not REPORT.search(output) and _last_line(output) == _short(lines[-1]) else ""


def _doubt(trial: TrialRecord) -> str:
    """Return why a measured zero may be none; empty for no reason."""
    guesses = [log.error.text for log in trial.actions.logs if log.error and log.error.guessed]
    lines = [line for line in trial.output.splitlines() if NOT_STARTED.search(line)]
    if guesses:
        return f"the agent's log ends with {_short(guesses[0])!r}"
    return f"the tests' output says {_short(lines[-1])!r}" if lines and not REPORT.search(trial.output) else ""


def _last_line(output: str) -> str:
    return _short(next((line for line in reversed(output.splitlines()) if line.strip()), ""))


def _short(text: str) -> str:
    return " ".join(text.split())[:ERROR_CHARS]

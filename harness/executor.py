"""How a prompt is given to Claude Code, and what comes back as a trace."""

from __future__ import annotations

import json
import threading
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from harness.claude import outcome, stream
from harness.claude.environment import INSTRUCTIONS_LOG_VARIABLE, agent_environment
from harness.claude.layout import ambient_memory
from harness.claude.messages import Init, Message, Result, message_of
from harness.claude.outcome import Ending
from harness.claude.startup import Expected
from harness.claude.trace import trace_of
from harness.claude.user_files import user_files
from harness.host import scratch
from harness.host.processes import Finished, Limits, LineVerdict, StopCause
from harness.models import (
    Config,
    ErrorKind,
    ExecutionTrace,
    Outcome,
    ToolCall,
)
from harness.models.tools import mcp_name
from harness.sandbox.place import Command, Sandbox, SandboxError
from harness.suite.resolved import ResolvedConfig, read_servers, resolve

SILENCE_SECONDS = 660.0
"""The CLI prints nothing while a tool runs, and its shell tool may run for 600 s."""


class Executor(ABC):
    """Abstract base class for code execution."""

    @abstractmethod
    def run(
        self,
        prompt: str,
        config: Config,
        working_dir: Path,
        timeout: int = 300,
        env_override: dict[str, str] | None = None,
    ) -> ExecutionTrace:
        """Give the prompt to an agent in `working_dir` and return what it did; `timeout` in seconds.

        Failures of the agent or the service are outcomes of the trace, not exceptions.
        """

    @property
    def place(self) -> str:
        """Where runs happen, when that is another place than this machine: part of what the experiment is."""
        return ""

    def prepare(self) -> None:  # noqa: B027 - most have nothing to do
        """Make ready and check what can be checked before a run is paid for; InputError says what is missing."""

    def resolve(self, config: Config) -> ResolvedConfig:
        """The config with all it names on this host looked up, and what this executor gives to every run."""
        return resolve(config)

    def cancel(self) -> None:  # noqa: B027 - an executor that cannot be interrupted is a valid one
        """End all runs in progress; they return with error kind `interrupted`."""


class ClaudeExecutor(Executor):
    """Executor that uses the Claude Code CLI."""

    def __init__(
        self,
        claude_path: str = "claude",
        ci_mode: bool = False,
        mcp_config_path: Path | str | None = None,
        skip_permissions: bool = True,
        *,
        silence_seconds: float = SILENCE_SECONDS,
        grace_seconds: float = 5.0,
        sandbox: Sandbox | None = None,
    ) -> None:
        """Choose how the CLI runs.

        Args:
            silence_seconds: longest without output.
            grace_seconds: from the result line to the kill.
            sandbox: where it runs; default this machine. `claude_path` is a path there.
        """
        # Runs have working directories of their own, so relative paths must be resolved here.
        is_path = Path(claude_path).name != claude_path
        self.claude_path = str(Path(claude_path).expanduser().absolute()) if is_path else claude_path
        self.ci_mode = ci_mode
        self.mcp_config_path = Path(mcp_config_path).expanduser().absolute() if mcp_config_path else None
        self.skip_permissions = skip_permissions
        self.silence_seconds = silence_seconds
        self.grace_seconds = grace_seconds
        self.sandbox = sandbox or Sandbox()
        self._cancelled = threading.Event()

    @property
    def place(self) -> str:
        """The sandbox's name; empty for this machine."""
        return self.sandbox.identity

    def prepare(self) -> None:
        """Make the sandbox ready; InputError says what is missing."""
        self.sandbox.prepare(self.claude_path)

    def cancel(self) -> None:
        """End all runs in progress; they return with error kind `interrupted`."""
        self._cancelled.set()

    @cached_property
    def _shared_servers(self) -> dict[str, Any]:
        """Those of `mcp_config_path`, read once, so that all runs have the same."""
        return read_servers(self.mcp_config_path) if self.mcp_config_path is not None else {}

    def resolve(self, config: Config) -> ResolvedConfig:
        """The config with all it names on this host looked up, and the servers of `mcp_config_path`."""
        return resolve(config).model_copy(update={"shared_servers": self._shared_servers})

    def run(
        self,
        prompt: str,
        config: Config,
        working_dir: Path | str,
        timeout: int = 300,
        env_override: dict[str, str] | None = None,
    ) -> ExecutionTrace:
        """Run the CLI once.

        Where `env_override` names a CLAUDE_CONFIG_DIR, the agent has its memory, settings, skills, subagents and
        servers.

        Raises:
            InputError: the config is not a resolved one, and names what this host does not have, or its lists of
                tools name a server that the run does not have.
        """
        config, working_dir = self.resolve(config), Path(working_dir).absolute()
        env = agent_environment(config, env_override or {}, self.sandbox.agent_variables())
        log = env.get(INSTRUCTIONS_LOG_VARIABLE)
        user = user_files(env_override or {})
        expected = Expected.of(config, user, working_dir)
        config.refuse_unknown_servers(expected.servers)
        watch = _StreamWatch(expected)
        limits = Limits(wall=timeout, silence=self.silence_seconds, grace=self.grace_seconds)
        with _mcp_file(expected.servers) as mcp_file:
            argv = self._build_command(config, expected.servers, mcp_file, user.given, Path(log) if log else None)
            try:
                finished = self.sandbox.run(
                    Command(
                        argv,
                        cwd=working_dir,
                        env=env,
                        limits=limits,
                        stdin=prompt.encode("utf-8", errors="replace"),
                        on_line=watch,
                        cancelled=self._cancelled,
                        writes=_folders(env_override or {}),
                        reads=[mcp_file] if mcp_file else [],
                    )
                )
            except SandboxError as error:
                lost = Ending(Outcome.INFRA_ERROR, ErrorKind.NO_RESULT, f"the sandbox failed: {error}")
                return trace_of([], lost, prompt, config, stderr=str(error))
            except OSError as error:
                text = f"{self.claude_path} cannot be started ({error.strerror}); install it or name its path"
                refused = Ending(Outcome.INFRA_ERROR, ErrorKind.CLI_REFUSED, text)
                return trace_of([], refused, prompt, config, stderr=text)
        messages = watch.messages or stream.parse_messages(finished.stdout.decode("utf-8", "replace"))
        missing = watch.missing
        if not missing and log is not None:
            init = stream.init_message(messages)
            missing = expected.missing_memory(init, Path(log), Path(log).parent) if init else []
        end = _ending(messages, finished, missing, endless=watch.endless, limit=timeout)
        stderr = finished.stderr.decode("utf-8", errors="replace")
        return trace_of(messages, end, prompt, config, stderr=stderr, seconds=finished.duration_seconds)

    def _build_command(
        self,
        config: Config,
        servers: Mapping[str, Any] | None = None,
        mcp_file: Path | None = None,
        has_user_files: bool = False,
        log: Path | None = None,
    ) -> list[str]:
        """The CLI's argument list; the prompt is not in it, since it goes to stdin."""
        command = [self.claude_path, "-p", "--output-format", "stream-json", "--verbose"]
        command += ["--model", config.model, "--max-turns", str(config.max_turns)]
        command += ["--setting-sources", "user,project" if has_user_files else "project", "--strict-mcp-config"]
        if mcp_file:
            command += ["--mcp-config", str(mcp_file)]
        command += self._permission_flags(config, resolve(config).servers if servers is None else servers)
        if config.max_budget_usd is not None:
            command += ["--max-budget-usd", str(config.max_budget_usd)]
        if config.effort is not None:
            command += ["--effort", config.effort]
        if self.ci_mode:
            command += ["--no-session-persistence"]
        if log:
            excluded = [str(path) for path in ambient_memory(log.parent)]
            hooks = {"InstructionsLoaded": [{"hooks": [LOG_HOOK]}]}
            command += ["--settings", json.dumps({"hooks": hooks, "claudeMdExcludes": excluded})]
        return command

    def _permission_flags(self, config: Config, servers: Mapping[str, Any]) -> list[str]:
        """Flags that make `allowed_tools` the only tools there are, without those of `disallowed_tools`.

        --allowedTools alone restricts nothing once permissions are skipped. --tools does, for whole built-in tools;
        servers that are not listed are removed. Where single tools of a server or some uses of a tool are listed,
        only the dontAsk mode can refuse the others.
        """
        mode = ["--dangerously-skip-permissions"] if self.skip_permissions else []
        tools, removed = [], list(config.disallowed_tools)
        rules = config.allowed_rules
        if rules is not None:
            tools = ["--tools", ",".join(dict.fromkeys(rule.name for rule in rules if not rule.is_mcp))]
            if any(rule.is_partial for rule in rules):
                mode = ["--permission-mode", "dontAsk", "--allowedTools", *(rule.text for rule in rules)]
            else:
                listed = {rule.name for rule in rules}
                removed += [mcp_name(server) for server in servers if mcp_name(server) not in listed]
        return [*tools, *(["--disallowedTools", *removed] if removed else []), *mode]

    def _parse_output(self, stdout: str, returncode: int = 0, stderr: str = "") -> ExecutionTrace:
        """Trace of an output of the CLI: stream-json lines, a json object, or the array of --verbose json."""
        messages = stream.parse_messages(stdout)
        end = outcome.decide(messages, returncode=returncode, stderr=stderr)
        return trace_of(messages, end, "", None, stderr=stderr)

    def _extract_tool_calls(self, messages: list[dict[str, Any]]) -> list[ToolCall]:
        """Tool calls with inputs, outputs, errors and times, in the order they were made."""
        return stream.tool_calls([message_of(message) for message in messages])


@contextmanager
def _mcp_file(servers: Mapping[str, Any]) -> Iterator[Path | None]:
    """The servers in a file that only the user can read; None without servers."""
    if not servers:
        yield None
        return
    with scratch.folder("mcp_") as folder:
        path = folder / "mcp.json"
        path.write_text(json.dumps({"mcpServers": dict(servers)}), encoding="utf-8")
        yield path


LOG_HOOK = {"type": "command", "command": f'cat >> "${INSTRUCTIONS_LOG_VARIABLE}"'}
"""Hook of the CLI that notes each memory file it loads; nothing of it reaches the model."""


def _folders(isolated: Mapping[str, str]) -> list[Path]:
    """The folders that the isolated variables name, and that of the log of memory files."""
    folders = [Path(value) for name, value in isolated.items() if name != INSTRUCTIONS_LOG_VARIABLE]
    log = isolated.get(INSTRUCTIONS_LOG_VARIABLE)
    return [path for path in folders if path.is_absolute() and path.is_dir()] + ([Path(log).parent] if log else [])


WHOLE_BYTES = 2_000_000
"""Of what the agent writes, and of what its tools return, are kept as they are; later texts are cut to `CUT_TEXT`."""
CUT_TEXT = 200
MOST_MESSAGES = 6_000
"""After so many a run is ended: no agent needs them, and they would fill the memory."""


class _StreamWatch:
    """Reads the stream while it grows: keeps its messages, stops a run whose treatment did not load.

    What a run prints without end takes a bounded part of the memory, since many runs go on side by side.
    """

    def __init__(self, expected: Expected) -> None:
        self.messages: list[Message] = []
        self.missing: list[str] = []
        self.endless = False
        self._bytes: Counter[str] = Counter()
        """Read so far, by type of line."""
        self._expected = expected

    def __call__(self, line: bytes) -> LineVerdict:
        message = stream.parse_line(line, longest=self._longest)
        if message is None:
            return LineVerdict.CONTINUE
        self._bytes[message.type] += len(line)
        self.messages.append(message)
        if len(self.messages) >= MOST_MESSAGES and not isinstance(message, Result):
            self.endless = True
            return LineVerdict.ABORT
        if isinstance(message, Init):
            self.missing = self._expected.missing_in(message)
            return LineVerdict.ABORT if self.missing else LineVerdict.CONTINUE
        return LineVerdict.LAST if isinstance(message, Result) else LineVerdict.CONTINUE

    def _longest(self, kind: str) -> int | None:
        too_much = self._bytes[kind] > WHOLE_BYTES or self._bytes.total() > 2 * WHOLE_BYTES
        return CUT_TEXT if too_much and kind != "result" else None


UNANSWERED_SECONDS = 120.0
"""A service that has begun to answer says something by then, or before half of a shorter task's time is up."""


def _ending(messages: list[Message], finished: Finished, missing: list[str], *, endless: bool, limit: float) -> Ending:
    if endless and finished.cause is not StopCause.CANCELLED:
        error = f"ended after {MOST_MESSAGES:,} messages, which is more than is kept of a run"
        return Ending(Outcome.AGENT_ERROR, ErrorKind.AGENT_STOPPED, error)
    if missing and finished.cause is not StopCause.CANCELLED:
        error = f"not loaded: {', '.join(missing)}"
        return Ending(Outcome.SETUP_ERROR, ErrorKind.NOT_LOADED, error)
    return outcome.decide(
        messages,
        cause=finished.cause,
        returncode=finished.returncode,
        stderr=finished.stderr.decode("utf-8", errors="replace"),
        unanswered=finished.silent_seconds > min(UNANSWERED_SECONDS, limit / 2),
    )

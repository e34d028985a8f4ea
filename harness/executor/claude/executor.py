"""Runs Claude Code on a prompt, and returns the trace."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.executor.base import ProcessExecutor, mcp_file
from harness.executor.claude.layout import CLI_VARIABLES, INSTRUCTIONS_LOG_VARIABLE, ambient_memory
from harness.executor.claude.messages import Init, Message, Result, Turn, message_of, tool_calls, trace_of
from harness.executor.claude.outcome import decide
from harness.executor.claude.startup import ExpectedStart, with_config_folder
from harness.executor.transcript import Transcript, bounded, objects_in
from harness.models import Config, ErrorKind, ExecutionTrace, Outcome, ToolCall
from harness.models.tools import mcp_name
from harness.sandbox.place import Sandbox
from harness.sandbox.processes import Limits, LineVerdict, ProcessResult, StopCause
from harness.suite.resolve import resolve
from measure.records.outcomes import Ending

SILENCE_SECONDS = 660.0
"""The CLI prints nothing while a tool runs, and its shell tool may run for 600 s."""


class ClaudeExecutor(ProcessExecutor):
    """Runs the Claude Code CLI."""

    agent = "claude-code"

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
        """`silence_seconds`: longest time without output. For the last two, see `ProcessExecutor`."""
        super().__init__(claude_path, mcp_config_path, grace_seconds=grace_seconds, sandbox=sandbox)
        self.ci_mode = ci_mode
        self.skip_permissions = skip_permissions
        self.silence_seconds = silence_seconds

    def run(
        self,
        prompt: str,
        config: Config,
        working_dir: Path | str,
        timeout: int = 300,
        env_override: dict[str, str] | None = None,
    ) -> ExecutionTrace:
        """Run the CLI once.

        If `env_override` sets CLAUDE_CONFIG_DIR, or else CLAUDE_HOME, the agent gets the memory, settings, skills,
        subagents and servers of that folder. InputError if an unresolved config names what this host does not have, or
        its tool lists name a server that the run does not have.
        """
        config, working_dir = self.resolve(config), Path(working_dir).absolute()
        isolated = with_config_folder(env_override or {})
        env = {**self.sandbox.agent_variables(), **CLI_VARIABLES, **isolated, **config.env}
        log = Path(env[INSTRUCTIONS_LOG_VARIABLE]) if INSTRUCTIONS_LOG_VARIABLE in env else None
        expected = ExpectedStart(config, isolated, working_dir)
        config.refuse_unknown_servers(expected.servers)
        stream = Stream(expected)

        def ending(finished: ProcessResult, stderr: str) -> Ending:
            end = decide(stream.messages, finished, stderr, timeout)
            if log is None or not stream.started or end.kind is ErrorKind.INTERRUPTED:
                return end
            return _setup_error(expected.memory_problem(log)) or end

        with mcp_file(expected.servers) as servers:
            known, _ = self._run(
                self._build_command(config, expected.servers, servers, expected.has_user_files, log),
                prompt,
                config,
                working_dir,
                env=env,
                isolated=isolated,
                transcript=stream,
                decide=ending,
                limits=Limits(timeout, self.silence_seconds, self.grace_seconds),
                writes=[log.parent] if log else [],
                reads=[servers],
            )
        return trace_of(stream.messages, max_turns=config.max_turns, **known)

    def _build_command(
        self,
        config: Config,
        servers: Mapping[str, Any] | None = None,
        servers_file: Path | None = None,
        has_user_files: bool = False,
        log: Path | None = None,
    ) -> list[str]:
        """Return the CLI's argument list, without the prompt, which goes to stdin."""
        command = [self.program, "-p", "--output-format", "stream-json", "--verbose"]
        command += ["--model", config.model, "--max-turns", str(config.max_turns)]
        command += ["--setting-sources", "user,project" if has_user_files else "project", "--strict-mcp-config"]
        if servers_file:
            command += ["--mcp-config", str(servers_file)]
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
        """Return the flags that restrict the agent to `allowed_tools` without `disallowed_tools`.

        --allowedTools alone restricts nothing if permissions are skipped. --tools does, for whole built-in tools, and
        servers that are not listed are removed. If single tools of a server or some uses of a tool are listed, only
        the dontAsk mode can refuse the others.
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
        """Parse the CLI's output into a trace: stream-json lines, a json object, or the array of --verbose json."""
        messages = [message_of(bounded(found)) for found in objects_in(stdout)]
        end = decide(messages, ProcessResult(returncode, b"", b"", StopCause.EXITED, 0.0), stderr)
        return trace_of(messages, **end.fields, stderr=stderr)

    def _extract_tool_calls(self, messages: list[dict[str, Any]]) -> list[ToolCall]:
        """Return the tool calls with inputs, outputs, errors and times, in the order they were made."""
        return tool_calls([message_of(message) for message in messages])


LOG_HOOK = {"type": "command", "command": f'cat >> "${INSTRUCTIONS_LOG_VARIABLE}"'}
"""The CLI hook that records each memory file that is loaded; the model sees nothing of it."""


class Stream(Transcript[Message]):
    """Reads the CLI's stream as it grows, and stops a run whose treatment did not load."""

    def __init__(self, expected: ExpectedStart) -> None:
        super().__init__()
        self.started = False
        """Whether the CLI said what it loaded."""
        self._expected = expected
        self._background: set[str] = set()
        """Tasks that run in the background; the CLI goes on when one ends."""
        self._done = False
        """Whether a result line came and nothing after it is expected."""

    def take(self, message: dict[str, Any]) -> LineVerdict:
        """Keep a message; a result ends the run, unless a task is still in progress."""
        told = message_of(message)
        self.messages.append(told)
        # A background task that ends after a result line starts the agent again, and another result line follows.
        task = str(message.get("task_id", ""))
        if told.subtype == "task_started":
            self._background.add(task)
        elif told.subtype == "task_notification":
            self._background.discard(task)
        if isinstance(told, Result):
            self._done = not self._background
        elif isinstance(told, Turn) or told.subtype.startswith("task_"):
            self._done = False
        elif isinstance(told, Init):
            self.started = True
            self.ending = _setup_error(self._expected.startup_problem(told))
        return LineVerdict.LAST if self._done else LineVerdict.CONTINUE


def _setup_error(problem: str) -> Ending | None:
    return Ending(Outcome.SETUP_ERROR, ErrorKind.NOT_LOADED, problem) if problem else None

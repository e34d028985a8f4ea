"""The interface of agents: an agent gets a prompt and a folder to work in, and returns a trace of what it did."""

from __future__ import annotations

import copy
import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from harness.executor.claude.layout import lay_out
from harness.executor.transcript import Transcript
from harness.models import Config, ErrorKind, ExecutionTrace, Outcome, Resources
from harness.sandbox import scratch
from harness.sandbox.place import Sandbox, SandboxError
from harness.sandbox.processes import Command, Limits, ProcessResult
from harness.suite.resolve import ResolvedConfig, read_servers, resolve
from harness.suite.skills import Skill
from locobench.shared.errors import InputError
from measure.records.outcomes import Ending

Layout = Callable[[Path, Path, str | None, str | None, Sequence[Skill]], dict[str, str]]
"""Lays out one agent's files: gets the project, the run's empty HOME, the texts for CLAUDE.md and AGENTS.md, and the
skills. It writes what the agent reads at its start, and returns the agent's own variables."""


class Executor(ABC):
    """Abstract base class of agents."""

    layout = staticmethod(lay_out)
    """Writes the agent's memory and skills; by default where Claude Code looks for them."""

    unsupported: ClassVar[Mapping[str, str]] = {}
    """Fields of a config that this agent cannot honor, each with what to do instead."""

    @abstractmethod
    def run(
        self,
        prompt: str,
        config: Config,
        working_dir: Path,
        timeout: int = 300,
        env_override: dict[str, str] | None = None,
    ) -> ExecutionTrace:
        """Give the prompt to an agent in `working_dir` and return what it did; `timeout` is in seconds.

        Failures of the agent or the service are outcomes of the trace, not exceptions.
        """

    @property
    def agent(self) -> str:
        """Name of the agent, as in Harbor; a comparison checks whether both arms have the same one."""
        return f"{type(self).__module__}:{type(self).__qualname__}"

    @property
    def identity(self) -> str:
        """Distinguishes this executor's runs from others."""
        return self.agent

    def within(self, resources: Resources) -> Executor:
        """Return this executor with a task's limits on resources; without containers it returns itself."""
        return self

    def prepare(self) -> None:  # noqa: B027 - most have nothing to do
        """Get ready, and check what can be checked before a run costs money; InputError says what is missing."""

    def resolve(self, config: Config) -> ResolvedConfig:
        """Look up everything that the config names on this host, and add what this executor gives to every run.

        InputError also if the config sets a field that the agent cannot honor.
        """
        for field, way_out in self.unsupported.items():
            if getattr(config, field) != Config.model_fields[field].get_default():
                raise InputError(f"config {config.name}: {self.agent} does not support {field}; {way_out}")
        return resolve(config)

    def cancel(self) -> None:  # noqa: B027 - an executor that cannot be interrupted is a valid one
        """End all runs in progress; they return with error kind `interrupted`."""


class ProcessExecutor(Executor):
    """An executor that starts a program for each run, on this machine or in a sandbox."""

    def __init__(
        self,
        program: str,
        mcp_config_path: Path | str | None = None,
        *,
        grace_seconds: float = 5.0,
        sandbox: Sandbox | None = None,
    ) -> None:
        """`mcp_config_path`: servers for every run, in addition to its config's. `sandbox`: default this machine.

        `grace_seconds`: time from the end of the work, or from SIGTERM, to the kill. InputError if `mcp_config_path`
        cannot be read.
        """
        # Each run has its own working directory, so relative paths must be resolved here.
        is_path = Path(program).name != program
        self.program = str(Path(program).expanduser().absolute()) if is_path else program
        self.shared_servers = read_servers(Path(mcp_config_path)) if mcp_config_path else {}  # for all runs the same
        self.sandbox = sandbox or Sandbox()
        self.grace_seconds = grace_seconds
        self._cancelled = threading.Event()

    @property
    def identity(self) -> str:
        """The agent and its sandbox."""
        return f"{self.agent} {self.sandbox.identity}"

    def within(self, resources: Resources) -> ProcessExecutor:
        """Return this executor with a sandbox that has a task's limits on resources."""
        limited = copy.copy(self)
        limited.sandbox = self.sandbox.within(resources)
        return limited

    def prepare(self) -> None:
        """Prepare the sandbox; InputError says what is missing."""
        self.sandbox.prepare(self.program)

    def cancel(self) -> None:
        """End all runs in progress; they return with error kind `interrupted`."""
        self._cancelled.set()

    def resolve(self, config: Config) -> ResolvedConfig:
        """Look up everything that the config names on this host, and add the servers of `mcp_config_path`."""
        return super().resolve(config).model_copy(update={"shared_servers": self.shared_servers})

    def _run(
        self,
        argv: Sequence[str],
        prompt: str,
        config: Config,
        working_dir: Path | str,
        *,
        env: Mapping[str, str],
        isolated: Mapping[str, str],
        limits: Limits,
        decide: Callable[[ProcessResult, str], Ending],
        transcript: Transcript[Any] | None = None,
        writes: Sequence[Path] = (),
        reads: Sequence[Path] = (),
    ) -> tuple[dict[str, Any], str]:
        """Run a command to its end, with the prompt as its input; return fields that every trace has, and its stdout.

        It may write to the folders that `isolated` names. `decide` gets how it finished and its stderr, and returns how
        that counts, unless `transcript` ended the run.
        """
        folders = [path for value in isolated.values() if (path := Path(value)).is_absolute() and path.is_dir()]
        command = Command(
            argv,
            cwd=Path(working_dir).absolute(),
            env=env,
            limits=limits,
            stdin=prompt.encode("utf-8", errors="replace"),
            on_line=transcript,
            cancelled=self._cancelled,
            writes=[*folders, *writes],
            reads=reads,
        )
        stdout, stderr, seconds = "", "", 0.0
        try:
            finished = self.sandbox.run(command)
        except SandboxError as error:
            end = Ending(Outcome.INFRA_ERROR, ErrorKind.NO_RESULT, f"the sandbox failed: {error}")
        except OSError as error:
            text = f"{self.program} cannot be started ({error.strerror}); install it or name its path"
            end = Ending(Outcome.INFRA_ERROR, ErrorKind.CLI_REFUSED, text)
        else:
            stdout, stderr = (output.decode("utf-8", "replace") for output in (finished.stdout, finished.stderr))
            seconds = finished.duration_seconds
            end = (transcript and transcript.ending) or decide(finished, stderr)
        about = {"claude_prompt": prompt, "config_snapshot": config.to_snapshot()}
        return {**end.fields, **about, "duration_seconds": seconds, "stderr": stderr}, stdout


@contextmanager
def mcp_file(servers: Mapping[str, Any]) -> Iterator[Path]:
    """Yield a temporary file with the servers, in the format of .mcp.json and readable only by the user."""
    with scratch.folder("mcp_") as folder:
        path = folder / "mcp.json"
        path.write_text(json.dumps({"mcpServers": dict(servers)}), encoding="utf-8")
        yield path

"""A fake `claude` executable that plays recorded output, for tests that need no model and no network."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from harness.executor import ClaudeExecutor
from harness.models import Config, ExecutionTrace

RECORDED = Path(__file__).parents[1] / "fixtures/claude_cli"

SCRIPT = """#!{python} -S
import json, os, sys, time
play = json.loads({play!r})
prompt = sys.stdin.read()
call = dict(argv=sys.argv[1:], prompt=prompt, env=dict(os.environ), cwd=os.getcwd(), pid=os.getpid())
call["files"] = sorted(os.path.join(d, f)[2:] for d, _, names in os.walk(".") for f in names)
if "--mcp-config" in sys.argv:
    call["mcp"] = json.load(open(sys.argv[sys.argv.index("--mcp-config") + 1]))
with open({calls!r}, "a") as log:
    log.write(json.dumps(call) + "\\n")
for path, content in play["writes"].items():
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    open(path, "w").write(content)
memory = ["CLAUDE.md"] if play["loads_claude_md"] else []
if memory and "user,project" in sys.argv:
    memory.append(os.environ["CLAUDE_CONFIG_DIR"] + "/CLAUDE.md")
play["loads"] += [os.path.abspath(path) for path in memory if os.path.exists(path)]
if "HARNESS_INSTRUCTIONS_LOG" not in os.environ:
    play["loads"] = []
for path in play["loads"]:
    open(os.environ["HARNESS_INSTRUCTIONS_LOG"], "a").write(json.dumps(dict(file_path=path)))
out = open(play["stdout"], "rb").read() if play["stdout"] else b""
if play["patch_init"] and out:
    first, _, rest = out.partition(b"\\n")
    out = json.dumps(dict(json.loads(first), **play["patch_init"])).encode() + b"\\n" + rest
if play["own_session"] and out:
    # As every run of the real one; the recorded output is of one.
    import uuid
    out = out.replace(json.loads(out.partition(b"\\n")[0])["session_id"].encode(), str(uuid.uuid4()).encode())
out += bytes.fromhex(play["extra_stdout"])
if play["child"]:
    import subprocess
    subprocess.Popen(play["child"], start_new_session=True)
time.sleep(play["delay"])
sys.stdout.buffer.write(out)
sys.stdout.buffer.flush()
sys.stderr.write(play["stderr"])
sys.stderr.flush()
if play["hang"]:
    time.sleep(600)
sys.exit(play["code"])
"""


@dataclass
class FakeClaude:
    """What the fake does; `install` makes it an executable."""

    stdout: str = "ok_stream.stdout"
    """Name of a recorded file, or an absolute path; empty for nothing."""
    stderr: str = ""
    code: int = 0
    hang: bool = False
    """Whether it stays alive after its output."""
    delay: float = 0.0
    writes: dict[str, str] = field(default_factory=dict)
    """Files it writes into its working directory."""
    own_session: bool = False
    """Whether each run has a session of its own, as those of the real one; else that of the recorded output."""
    extra_stdout: bytes = b""
    """Printed after the recorded output."""
    patch_init: dict[str, Any] = field(default_factory=dict)
    """Keys of the init line to replace."""
    loads_claude_md: bool = True
    loads: list[str] = field(default_factory=list)
    """Memory files it says to have loaded besides."""
    child: list[str] = field(default_factory=list)
    """A command it leaves running in a session of its own."""

    def install(self, folder: Path) -> Path:
        """Write the executable `claude` into a folder; returns its path."""
        folder.mkdir(parents=True, exist_ok=True)
        play = {**asdict(self), "extra_stdout": self.extra_stdout.hex()}
        play["stdout"] = str(RECORDED / self.stdout) if self.stdout else ""
        path = folder / "claude"
        calls = str(folder / "calls.jsonl")
        path.write_text(SCRIPT.format(python=sys.executable, play=json.dumps(play), calls=calls))
        path.chmod(0o755)
        return path


def calls(claude: Path) -> list[dict[str, Any]]:
    """Every call of an installed fake: argv, prompt, env, cwd, the files it found and the servers it was given."""
    log = claude.with_name("calls.jsonl")
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def play(
    tmp_path: Path,
    fake: FakeClaude | None = None,
    config: Config | None = None,
    *,
    timeout: int = 20,
    **options: float,
) -> ExecutionTrace:
    """Run the executor once with a fake that is installed for it; `options` are the executor's."""
    claude = (fake or FakeClaude()).install(tmp_path / "bin")
    project = tmp_path / "project"
    project.mkdir(exist_ok=True)
    executor = ClaudeExecutor(str(claude), **options)  # type: ignore[arg-type]
    return executor.run("do it", config or Config(name="c"), project, timeout)


def parse_recorded(name: str, returncode: int = 0) -> ExecutionTrace:
    """Trace of a recorded file without running anything."""
    output = (RECORDED / name).read_text(encoding="utf-8")
    return ClaudeExecutor()._parse_output(output, returncode)

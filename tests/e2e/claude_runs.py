"""One run of the real claude CLI: its task, and what configs give to it."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.executor import ClaudeExecutor
from harness.models import Config, EvalResult, Task
from harness.runner import EvalRunner
from tests.support.attacks import ATTACKS, write_suite, write_task
from tests.support.stand_in.messages_api import Reply, Request, Responder, Text, ToolUse

MCP_SERVER = """\
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    method, number = message.get("method"), message.get("id")
    if method == "initialize":
        result = dict(protocolVersion=message["params"]["protocolVersion"], capabilities=dict(tools={}))
        result["serverInfo"] = dict(name="s", version="1")
    elif method == "tools/list":
        schema = dict(type="object", properties={})
        result = dict(tools=[dict(name=n, description="d", inputSchema=schema) for n in ("find", "other")])
    elif method == "tools/call":
        result = dict(content=[dict(type="text", text="called " + message["params"]["name"])])
    elif number is None:
        continue
    else:
        result = {}
    print(json.dumps(dict(jsonrpc="2.0", id=number, result=result)), flush=True)
"""


TASK = Task.model_validate(
    {
        "id": "t",
        "category": "coding",
        "description": "d",
        "prompt": "do it",
        "timeout_seconds": 60,
        "assertions": [{"type": "code", "check": "file_exists", "file": "out.txt"}],
    }
)


def run(claude: Path, config: Config, *, timeout: int = 60, prompt: str = "do it") -> EvalResult:
    task = TASK.model_copy(update={"prompt": prompt, "timeout_seconds": timeout})
    return EvalRunner(ClaudeExecutor(str(claude), grace_seconds=2.0)).run_single(task, config)


def bash(command: str) -> ToolUse:
    return ToolUse("Bash", {"command": command, "description": "d"})


def solving(task: Task) -> ToolUse:
    """The work, as its reference solution does it."""
    assert task.solution_path
    files = [path for path in sorted(task.solution_path.rglob("*")) if path.is_file()]
    parts = [
        f"cat > {path.relative_to(task.solution_path)} <<'END-OF-FILE'\n{path.read_text().rstrip()}" for path in files
    ]
    return bash("".join(f"{part}\nEND-OF-FILE\n" for part in parts))


def prompt_key(prompt: str) -> str:
    """The first words of a prompt, as they stand in the JSON of a request."""
    return re.split(r'["\\]', " ".join(prompt.split()))[0][:60].strip()


def attacks(root: Path) -> dict[str, list[Reply]]:
    """Write a task for each attack on its hidden tests; returns the conversations that carry them out."""
    write_suite(root)
    scripts: dict[str, list[Reply]] = {}
    for name, attack in ATTACKS.items():
        prompt = f"Attack by {name} now"
        write_task(root, re.sub(r"[^A-Za-z0-9._-]+", "-", name), prompt, attack.command)
        scripts[prompt] = [bash(attack.script), Text("Done.")]
    return scripts


def by_prompt(scripts: Mapping[str, Sequence[Reply]]) -> Responder:
    """Each conversation goes as the script of the task whose prompt begins it; the last reply is repeated."""

    def respond(request: Request) -> Reply:
        if not request.is_main:
            return Text("Title")
        asked = " ".join(request.text.split())
        (script,) = [script for prompt, script in scripts.items() if prompt in asked]
        return script[min(request.turn, len(script) - 1)]

    return respond


def skill(folder: Path, name: str, text: str) -> Path:
    (folder / name).mkdir(parents=True)
    (folder / name / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {text}\n---\nbody\n")
    return folder


def servers(tmp_path: Path) -> dict[str, dict[str, object]]:
    script = tmp_path / "server.py"
    script.write_text(MCP_SERVER)
    return {"mcpServers": {"search": {"command": sys.executable, "args": [str(script)]}}}

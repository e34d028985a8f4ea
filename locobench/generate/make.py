"""Make a task's small files: instruction, task.toml, Dockerfile, tests and the oracle's solution."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import cache
from typing import Any

import jinja2
import pydantic_core
import tomli_w

from locobench.dataset.catalog import TEMPLATES, language_title, load_language
from locobench.dataset.scenario import Scenario
from locobench.generate.options import CustomVerifier, Options
from locobench.generate.project import ProjectMapping
from locobench.reading import MAX_ANSWER_BYTES
from locobench.scoring.grading import Grading, GradingError, grade_as_published, grade_exact, grade_key
from locobench.shared.installation import REPOSITORY
from locobench.shared.markdown import as_markdown

GENERATOR = "locobench-harbor"
TASK_METADATA = "tests/task_metadata.json"
PACKAGE = REPOSITORY / "locobench"
SCORERS = {"evidence": "verify.py", "published": "published.py", "exact": "exact.py"}
"""What a key may be scored by -> the module of `scoring` that makes the key and becomes a task's verify.py."""


@cache
def templates() -> jinja2.Environment:
    """Return the template environment; an undefined variable is an error."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"markdown": as_markdown, "toml": as_toml}
    return environment


def render_dockerfile(language: str, options: Options) -> str:
    """Return the Dockerfile for one language; raise InputError if the language's table cannot be used."""
    table = load_language(language, options.languages)
    return (
        templates()
        .get_template("environment/Dockerfile.j2")
        .render(
            base_image=options.base_image,
            language_image=options.language_image and options.language_image.replace("{language}", language),
            language=language,
            packages=table["packages"],
            fallback=table.get("fallback", []),
            run=table.get("run", []),
            closed_book=options.closed_book,
        )
    )


def render_instruction(task: Scenario, mapping: ProjectMapping, options: Options) -> str:
    """Return the instruction. It contains nothing from the ground truth."""
    template = templates().get_template("instruction.md.j2" if task.derived is None else "instruction_exact.md.j2")
    return template.render(
        {
            "title": task.title,
            "project_id": task.project_id,
            "description": task.description,
            "prompt": task.task_prompt,
            "language": language_title(task.language, options.languages),
            "files_count": len(mapping.files),
            "context_files": sorted(mapping.context_files),
            "hints": options.include_hints,
            "closed_book": options.closed_book,
            "servers": sorted(server.name for server in options.mcp_servers),
            "approach": task.expected_approach if options.include_hints else "",
            "criteria": task.evaluation_criteria if options.include_hints else "",
        }
    )


def grade(task: Scenario, mapping: ProjectMapping, instruction: str, options: Options) -> Grading:
    """Return the task's answer key and its oracle's answer.

    Raises:
        GradingError: answers cannot be scored against the ground truth.
        OSError: a file of the project cannot be read.
    """
    if task.derived is not None:
        return grade_exact(task)
    if options.scoring == "published":
        return grade_as_published(task)
    return grade_key(task, mapping.index(), context_files=mapping.context_files, instruction=instruction)


def render_config(
    task: Scenario, mapping: ProjectMapping, options: Options, oracle_reward: float, content_digest: str = ""
) -> str:
    """Return task.toml, in Harbor's schema 1.4.

    Args:
        oracle_reward: the reward that the project's verifier gives the oracle.
        content_digest: digest of the task with its code at hand.
    """
    scorer, own = _scorer_of(task, options), options.verifier
    pilot_runs, measured = options.pilots.get(task.id, ((), ""))
    metadata: dict[str, Any] = {
        "id": task.id,
        "title": task.title,
        "category": task.task_category,
        "difficulty": (task.derived and measured) or task.difficulty,
        "language": task.language,
        "project_id": task.project_id,
        "context_length": task.context_length,
        "context_length_unit": "characters",
        "files_count": task.files_count,
        "context_files_found": len(mapping.context_files),
        "scoring": scorer,
        "content_fingerprint": content_digest,
        "verifier": own.name if own else scorer,
        **({} if own else {"oracle_reward": oracle_reward}),
        "closed_book": options.closed_book,
        **({"pilot_runs": list(pilot_runs)} if pilot_runs else {}),
    }
    return (
        templates()
        .get_template("task.toml.j2")
        .render(
            task=task,
            name=f"{task.source}/{task.id.replace('_', '-')}",
            metadata=metadata,
            derived=task.derived and task.derived.model_dump(),
            options=options,
            max_answer_bytes=MAX_ANSWER_BYTES,
            servers=[
                (server.model_dump(mode="json", exclude_none=True, exclude={"headers"}), server.headers)
                for server in options.mcp_servers
            ],
        )
    )


def as_toml(value: Any) -> str:
    """Return a value, or the lines of a table, as TOML, so that no text can end a string or begin a key."""
    return tomli_w.dumps(value if isinstance(value, dict) else {"x": value}).removeprefix("x = ").rstrip("\n")


def _scorer_of(task: Scenario, options: Options) -> str:
    """Return which of the programs in SCORERS the task's key is for."""
    return options.scoring if task.derived is None else "exact"


def grader_files(verifier: CustomVerifier | None, scorer: str) -> dict[str, bytes]:
    """Return the programs of a task's tests by path: a user's own `verifier`, or the one of SCORERS."""
    return {
        "tests/test.sh": (TEMPLATES / "tests/test.sh").read_bytes(),
        "tests/locobench/reading.py": (PACKAGE / "reading.py").read_bytes(),
        "tests/verify.py": verifier.content if verifier else (PACKAGE / "scoring" / SCORERS[scorer]).read_bytes(),
    }


def make_task(task: Scenario, mapping: ProjectMapping, options: Options) -> dict[str, bytes]:
    """Return the task's small files by path; the project's files are copied separately.

    Args:
        mapping: the part of the project that the task gets.

    Raises:
        GradingError: answers cannot be scored against the ground truth.
        OSError: a file of the project cannot be read.
    """
    # However an agent reaches the code, the task is graded alike, and its digest says so.
    plain = replace(options, mcp_servers=(), closed_book=False, pilots={})
    asked = render_instruction(task, mapping, plain)
    try:
        grading = grade(task, mapping, asked, options)
    except GradingError:
        if options.verifier is None:
            raise
        # A custom verifier may score what the built-in one cannot.
        grading = Grading({}, as_markdown(task.ground_truth))
    metadata: dict[str, Any] = {
        "id": task.id,
        "title": task.title,
        "task_category": task.task_category,
        "difficulty": task.difficulty,
        "language": task.language,
        "project_id": task.project_id,
        "context_length": task.context_length,
        "files_count": task.files_count,
        "context_files": list(mapping.context_files),
        "missing_context_files": list(mapping.missing),
        "evaluation_criteria": task.evaluation_criteria,
        "expected_approach": task.expected_approach,
        "generator": GENERATOR,
    }
    files = {
        **grader_files(options.verifier, _scorer_of(task, options)),
        "tests/ground_truth.json": as_json({"ground_truth": task.ground_truth, "key": grading.key}),
        TASK_METADATA: as_json(metadata),
        "solution/solve.sh": (TEMPLATES / "solution" / "solve.sh").read_bytes(),
        "solution/solution.md": grading.oracle.encode(),
    }
    files |= _shown_files(task, mapping, plain, grading)
    total = hashlib.sha256(mapping.project.content.encode())
    for path, content in sorted(files.items()):
        total.update(f"{path}\0{hashlib.sha256(content).hexdigest()}\n".encode())
    return files | _shown_files(task, mapping, options, grading, total.hexdigest())


def _shown_files(
    task: Scenario, mapping: ProjectMapping, options: Options, grading: Grading, content_digest: str = ""
) -> dict[str, bytes]:
    """Return the files that depend on how an agent reaches the code."""
    return {
        "instruction.md": render_instruction(task, mapping, options).encode(),
        "task.toml": render_config(task, mapping, options, grading.oracle_reward, content_digest).encode(),
        "environment/Dockerfile": render_dockerfile(task.language, options).encode(),
    }


def as_json(value: Any) -> bytes:
    """Return `value` as indented JSON (json.dumps indents in pure Python, ten times slower)."""
    return pydantic_core.to_json(value, indent=1) + b"\n"

"""What the page of the results' schema says: every field of the models, with its type, default and docstring."""

from __future__ import annotations

import ast
import inspect
import re
from enum import Enum

from pydantic import BaseModel

from measure.records import outcomes, results, traces

# In the order of the page: what holds others comes first.
MODELS: tuple[type[BaseModel] | type[Enum], ...] = (
    results.ResultsFile,
    results.EvalResult,
    outcomes.Outcome,
    outcomes.ErrorKind,
    traces.ExecutionTrace,
    traces.TokenUsage,
    traces.ToolCall,
    traces.FileChange,
    traces.ConfigSnapshot,
    traces.Offered,
    results.GradeResult,
    results.CriterionScore,
    results.JudgeRecord,
    results.Fingerprints,
    traces.Conditions,
    traces.Batch,
)

INTRODUCTION = f"""\
# What is in a results file?

Written by `make docs` from `measure/records`; change that, not this page. `matrix`, `run`, `grade` and `report --json`
write such a file, as JSON in UTF-8. `report`, `analyze`, `compare`, `power` and `plan` read it, and so does this:

```python
from harness import EvalRunner

for result in EvalRunner.load_results("runs.json"):
    print(result.task_id, result.config_name, result.verdict, result.overall_score, result.cost_usd)
```

This prints the JSON Schema:

```bash
python -c "import json, measure.records as m; print(json.dumps(m.ResultsFile.model_json_schema()))"
```

A journal (`NAME.journal.jsonl`) has one [EvalResult](#evalresult) per line. If several lines are about one run, the
last counts.

`schema_version` is {results.SCHEMA_VERSION}. A file with a higher version is refused. Unknown fields are ignored. A
field with a default may be missing; `—` marks those that may not. Scores are from 0 to 1, times in seconds, costs in
US$, points in time in UTC."""


def results_page() -> str:
    """Return the page."""
    return "\n\n".join([INTRODUCTION, *map(_section, MODELS)]) + "\n"


def _section(model: type[BaseModel] | type[Enum]) -> str:
    told = _docstrings(model)
    about = " ".join((inspect.getdoc(model) or "").split())
    if issubclass(model, Enum):
        rows = [f"| `{member.value or ' '}` | {told.get(name, '')} |" for name, member in model.__members__.items()]
        table = ["| value | meaning |", "|---|---|", *rows]
    else:
        table = ["| field | type | default | meaning |", "|---|---|---|---|"]
        for name, field in model.model_fields.items():
            kind = _linked(str(model.__annotations__[name]))
            default = "—" if field.is_required() else "" if field.default_factory else f"`{field.default!r}`"
            table.append(f"| `{name}` | {kind} | {default} | {told.get(name, '')} |")
    return "\n\n".join([f"## {model.__name__}", about, "\n".join(table)])


def _linked(annotation: str) -> str:
    """Return a type with links to the models on the page."""
    text = annotation.replace("Whole", "int").replace("SchemaVersion", "int").replace("|", "\\|")
    names = {model.__name__ for model in MODELS}
    return re.sub(
        r"\b[A-Z]\w+\b", lambda found: f"[{found[0]}](#{found[0].lower()})" if found[0] in names else found[0], text
    )


def _docstrings(model: type) -> dict[str, str]:
    """Return the docstring below each field of a class, in one line."""
    (body,) = ast.parse(inspect.getsource(model)).body
    assert isinstance(body, ast.ClassDef)
    found = {}
    for statement, following in zip(body.body, body.body[1:], strict=False):
        target: ast.expr | None = statement.target if isinstance(statement, ast.AnnAssign) else None
        if isinstance(statement, ast.Assign):
            target = statement.targets[0]
        if (
            isinstance(target, ast.Name)
            and isinstance(following, ast.Expr)
            and isinstance(following.value, ast.Constant)
            and isinstance(following.value.value, str)
        ):
            found[target.id] = " ".join(following.value.value.split()).replace("|", "\\|")
    return found

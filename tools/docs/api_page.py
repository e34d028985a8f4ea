"""What the page of the public API says: classes, functions and fields with their docstrings, by what they are for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import griffe

# Every path is a name, or a module whose public names are all meant.
SECTIONS = {
    "Tasks of the benchmark": [
        "adapter.LoCoBenchTask",
        "adapter.LoCoBenchLoader",
        "adapter.LoCoBenchAdapter",
        "adapter.DatasetError",
        "adapter.UnknownTaskError",
    ],
    "Data models": ["harness.models"],
    "Running": [
        "harness.runner.EvalRunner",
        "harness.run.matrix.RetryPolicy",
        "harness.run.matrix.MatrixStopped",
        "harness.executor.Executor",
        "harness.executor.ClaudeExecutor",
        "harness.isolator.EnvironmentIsolator",
        "harness.isolator.IsolatedEnv",
    ],
    "Grading": [
        "harness.graders.composite_grader.CompositeGrader",
        "harness.graders.code_graders.CodeGrader",
        "harness.graders.llm_graders.LLMGrader",
        "harness.run.regrade.trial_case",
        "harness.run.regrade.run_case",
        "harness.run.panel.Panel",
        "harness.results.judged_task.pack_for",
        "harness.agreement.calibration.calibrate",
        "harness.agreement.calibration.Calibration",
    ],
    "Reading and comparing results": [
        "harness.results.sources.load_source",
        "harness.compare.comparison.compare",
        "harness.compare.verdicts.Comparison",
        "harness.compare.verdicts.Decision",
        "harness.compare.verdicts.UnitComparison",
        "harness.compare.verdicts.MetricDifference",
    ],
    "Reporting": [
        "harness.reporter",
        "harness.report.html.render",
        "harness.report.html.Arm",
        "harness.report.exports",
    ],
    "Statistics": ["harness.statistics"],
    "Configuration snapshots": [
        "harness.config_exporter",
        "harness.config_importer",
        "harness.host.redaction.redact",
        "harness.host.redaction.redact_text",
    ],
    "Errors": ["locobench.shared.errors", "harness.errors"],
}

WIDEST = 110
"""Characters of a signature on one line; longer ones get a line for each parameter."""


def api_page(root: Path) -> str:
    """Return the page for the code in `root`."""
    code = griffe.GriffeLoader(search_paths=[root], docstring_parser=griffe.Parser.google)
    for package in ("adapter", "locobench", "harness"):
        code.load(package)
    parts = [
        "# API reference",
        "Written by `make docs` from the docstrings; change those, not this page. [HARNESS.md](HARNESS.md) tells how"
        " the parts are used, [CLI_REFERENCE.md](CLI_REFERENCE.md) lists the commands.",
    ]
    contents, body = [], []
    for title, paths in SECTIONS.items():
        body.append(f"## {title}")
        shown = [(path, member) for path in paths for member in _public(code.modules_collection[path])]
        links = ", ".join(f"[{member.name}](#{member.name.lower()})" for _, member in shown)
        contents.append(f"- **{title}**: {links}")
        for path, member in shown:
            home = path if code.modules_collection[path].is_module else path.rpartition(".")[0]
            body += _class(member, home) if isinstance(member, griffe.Class) else _top_function(member, home)
    return "\n\n".join([*parts, "\n".join(contents), *body]) + "\n"


def _public(found: griffe.Object | griffe.Alias) -> Iterator[griffe.Class | griffe.Function]:
    """Yield the object itself, or the public classes and functions of a module."""
    if not isinstance(found, griffe.Module):
        yield _target(found)
        return
    exported = [str(name) for name in found.exports or ()]
    members = [found.members[name] for name in exported or found.members]
    kept = []
    for member in members:
        own = not member.is_alias or member.name in exported
        if own and not member.name.startswith("_") and (member.is_class or member.is_function):
            kept.append(_target(member))
    # What a package gathers from its modules stays together, in the order of the source.
    yield from sorted(kept, key=lambda one: (one.path.rpartition(".")[0], one.lineno or 0))


def _target(found: griffe.Object | griffe.Alias) -> griffe.Class | griffe.Function:
    target = found.final_target if isinstance(found, griffe.Alias) else found
    assert isinstance(target, griffe.Class | griffe.Function), f"{found.path}: neither a class nor a function"
    return target


def _class(owner: griffe.Class, home: str) -> list[str]:
    parts = [f"### {owner.name}", f"`from {home} import {owner.name}`"]
    bases = [str(base) for base in owner.bases if str(base) not in ("BaseModel", "NamedTuple", "ABC")]
    if bases:
        parts[-1] += f" · extends {', '.join(f'`{base}`' for base in bases)}"
    parts += _text(owner)
    is_enum = any(str(base).endswith("Enum") for base in owner.bases)
    inherited = {} if is_enum else {name: _resolved(alias) for name, alias in owner.inherited_members.items()}
    # A dataclass has the __init__ that its fields say.
    own = {name: one for name, one in owner.members.items() if name != "__init__" or "dataclass" not in owner.labels}
    fields: list[griffe.Attribute] = []
    members: list[griffe.Attribute | griffe.Function] = []
    for name, member in {**inherited, **own}.items():
        if name.startswith("_") and name != "__init__":
            continue
        if isinstance(member, griffe.Attribute) and "property" in member.labels:
            members.append(member)
        elif isinstance(member, griffe.Attribute) and name != "model_config":
            fields.append(member)
        elif isinstance(member, griffe.Function) and name in own and not _is_machinery(member):
            members.append(member)
    are_record_fields = "__init__" not in own
    rows = [row for field in fields if (row := _field(field, is_enum, are_record_fields))]
    if rows and is_enum:
        with_text = any(not row.endswith("|  |") for row in rows)
        if with_text:
            parts.append("\n".join(["| Value | Meaning |", "|---|---|", *rows]))
        else:
            parts.append("Values: " + ", ".join(row.split("|")[1].strip() for row in rows) + ".")
    elif rows:
        parts.append("\n".join(["| Field | Type | Default | Meaning |", "|---|---|---|---|", *rows]))
    for member in members:
        if isinstance(member, griffe.Function) and not (member.name == "__init__" and not _says_something(member)):
            name = f"{owner.name}({{}})" if member.name == "__init__" else f"{member.name}({{}})"
            parts += [f"```python\n{_signature(member, name)}\n```", *_text(member)]
    properties = [member for member in members if isinstance(member, griffe.Attribute)]
    if properties:
        lines = [f"| `{one.name}` | {_type(one)} | {_cell(one)} |" for one in properties]
        parts.append("\n".join(["| Property | Type | Meaning |", "|---|---|---|", *lines]))
    return parts


def _top_function(function: griffe.Function, home: str) -> list[str]:
    parts = [f"### {function.name}", f"`from {home} import {function.name}`"]
    return [*parts, f"```python\n{_signature(function, function.name + '({})')}\n```", *_text(function)]


def _resolved(alias: griffe.Object | griffe.Alias) -> griffe.Object:
    return alias.final_target if isinstance(alias, griffe.Alias) else alias


def _is_machinery(method: griffe.Function) -> bool:
    """Whether pydantic or click calls the method, and nobody else."""
    return any(re.search(r"validator|serializer", str(one.value)) for one in method.decorators)


def _says_something(method: griffe.Function) -> bool:
    return method.docstring is not None or len(method.parameters) > 1


def _field(field: griffe.Attribute, is_enum: bool, is_record_field: bool) -> str:
    if is_enum:
        value = str(field.value).strip("\"'")
        return f"| `{value or '(empty)'}` | {_cell(field)} |"
    if "class-attribute" not in field.labels and field.value is not None:
        # Set in __init__: an attribute that callers may read has a docstring.
        return f"| `{field.name}` | {_type(field)} |  | {_cell(field)} |" if field.docstring else ""
    if not is_record_field and field.docstring is None:
        return ""
    default = _default(field)
    return f"| `{field.name}` | {_type(field)} | {default} | {_cell(field)} |"


def _type(field: griffe.Attribute) -> str:
    if field.annotation is None:
        return ""
    return "`" + str(field.annotation).replace("|", "\\|") + "`"


def _default(field: griffe.Attribute) -> str:
    value = field.value
    if value is None:
        return "required"
    if isinstance(value, griffe.ExprCall) and str(value.function) in ("Field", "field"):
        given = {one.name: one.value for one in value.arguments if isinstance(one, griffe.ExprKeyword)}
        plain = [one for one in value.arguments if not isinstance(one, griffe.ExprKeyword)]
        if "default_factory" in given:
            made = str(given["default_factory"])
            if made.startswith("lambda"):
                return "from other fields"
            return "`" + {"list": "[]", "dict": "{}", "tuple": "()"}.get(made, f"{made}()") + "`"
        chosen = given.get("default", plain[0] if plain else None)
        if chosen is None or str(chosen) == "...":
            return "required"
        value = chosen
    return f"`{_constant(value)}`".replace("|", "\\|")


def _constant(value: str | griffe.Expr) -> str:
    """Return the source of a default, or of the constant that it names."""
    if isinstance(value, griffe.ExprName) and value.name.isupper() and isinstance(value.parent, griffe.Object):
        try:
            named = value.parent.modules_collection[value.canonical_path]
        except KeyError:
            return str(value)
        target = _resolved(named)
        if isinstance(target, griffe.Attribute) and target.value is not None:
            return str(target.value)
    return str(value)


def _signature(function: griffe.Function, name: str) -> str:
    parts: list[str] = []
    keywords = False
    for parameter in function.parameters:
        if parameter.name in ("self", "cls"):
            continue
        text = parameter.name
        if parameter.kind is griffe.ParameterKind.var_positional:
            keywords, text = True, f"*{text}"
        elif parameter.kind is griffe.ParameterKind.var_keyword:
            text = f"**{text}"
        elif parameter.kind is griffe.ParameterKind.keyword_only and not keywords:
            keywords = True
            parts.append("*")
        if parameter.annotation is not None:
            text += f": {parameter.annotation}"
        if parameter.default is not None and not text.startswith("*"):
            text += f" = {_constant(parameter.default)}"
        parts.append(text)
    returns = "" if function.returns is None or function.name == "__init__" else f" -> {function.returns}"
    line = name.format(", ".join(parts)) + returns
    if len(line) <= WIDEST:
        return line
    return name.format("\n" + "".join(f"    {part},\n" if part != "*" else "    *,\n" for part in parts)) + returns


def _cell(member: griffe.Object) -> str:
    """Return a docstring as one cell of a table."""
    return " ".join(" ".join(_text(member)).split()).replace("|", "\\|")


def _text(member: griffe.Object) -> list[str]:
    """Return the paragraphs of a docstring, its sections as lists."""
    parts: list[str] = []
    for section in member.docstring.parsed if member.docstring else ():
        if isinstance(section, griffe.DocstringSectionText):
            parts.append(_shown(section.value))
        elif isinstance(section, griffe.DocstringSectionParameters | griffe.DocstringSectionAttributes):
            parts.append("\n".join(f"- `{one.name}`: {_flat(one.description)}" for one in section.value))
        elif isinstance(section, griffe.DocstringSectionReturns | griffe.DocstringSectionYields):
            word = "Returns" if isinstance(section, griffe.DocstringSectionReturns) else "Yields"
            parts.append(f"{word}: " + " ".join(_flat(one.description) for one in section.value))
        elif isinstance(section, griffe.DocstringSectionRaises):
            parts.append(
                "\n".join(
                    f"- raises `{str(one.annotation).strip('()')}`: {_flat(one.description)}" for one in section.value
                )
            )
        elif isinstance(section, griffe.DocstringSectionExamples):
            parts += [text for _, text in section.value]
        elif isinstance(section, griffe.DocstringSectionAdmonition):
            parts.append(f"**{section.title}** {_flat(section.value.description)}")
        else:
            raise ValueError(f"{member.path}: its docstring has a section of kind {section.kind.value}")
    return parts


def _flat(text: str) -> str:
    return _shown(" ".join(text.split()))


def _shown(text: str) -> str:
    """Return prose whose `<name>` Markdown does not take for HTML."""
    return re.sub(r"`[^`]*`|<", lambda found: "&lt;" if found[0] == "<" else found[0], text)

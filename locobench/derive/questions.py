"""Choose which findings to ask, and put them into words."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from locobench.derive.code.languages import Language
from locobench.derive.finding import Finding, f1
from locobench.derive.history import Change
from locobench.derive.kinds import CONTROL, HARD

LISTING = 0.3
"""Highest F1 that an answer listing everything may reach."""
CONTROL_SHARE = 0.25
"""Control questions per hard question: enough to reveal a difference that should not exist."""
_ALL_CLASSES = ("python", "typescript")
"""Languages in which every type that is declared like a class is one."""


def choose(
    findings: Iterable[Finding], listings: Sequence[Sequence[str]], most: int
) -> tuple[list[Finding], Counter[str]]:
    """Return the findings to ask, at most one per target, and a count of reasons for the others.

    Args:
        findings: all findings.
        listings: answers that list everything; their first items must not score.
        most: the largest number of hard questions; the control group is extra.
    """
    reasons: Counter[str] = Counter()
    hard: dict[str, list[Finding]] = defaultdict(list)
    control: list[Finding] = []
    for one in findings:
        if any(f1(one.answer, {*listing[: 3 * len(one.answer) + 10]}) > LISTING for listing in listings):
            reasons["a list of everything would score"] += 1
        elif one.kind in CONTROL:
            if one.grep_f1 > HARD:
                control.append(one)
            else:
                reasons["a control question that grep does not answer"] += 1
        elif one.grep_f1 > HARD:
            reasons["one grep answers it"] += 1
        else:
            hard[one.target].append(one)
    best = [min(some, key=lambda one: (one.grep_f1, one.depth, one.kind)) for some in hard.values()]
    reasons["another question has the same target"] += sum(map(len, hard.values())) - len(best)
    # Ask only one of several questions with the same answer.
    distinct: dict[tuple[str, ...], Finding] = {}
    for one in sorted(best, key=_lot):
        distinct.setdefault(one.answer, one)
    reasons["another question has the same answer"] += len(best) - len(distinct)
    chosen = _in_turn(list(distinct.values()), most)
    reasons["more than were asked for"] += len(distinct) - len(chosen)
    taken = {one.target for one in chosen}
    free = [one for one in sorted(control, key=_lot) if one.target not in taken]
    beside = _in_turn(free, max(3, round(CONTROL_SHARE * len(chosen))))
    reasons["more control questions than needed"] += len(control) - len(beside)
    return sorted([*chosen, *beside], key=lambda one: (one.kind, one.target, one.depth)), +reasons


def _in_turn(findings: list[Finding], most: int) -> list[Finding]:
    """Return at most `most` findings, taking every kind and depth in turn."""
    seen: Counter[tuple[str, int]] = Counter()
    turns: list[tuple[int, str, int, Finding]] = []
    for one in findings:
        turns.append((seen[one.kind, one.depth], one.kind, one.depth, one))
        seen[one.kind, one.depth] += 1
    return [one for *_, one in sorted(turns, key=lambda turn: turn[:3])[:most]]


def _lot(finding: Finding) -> str:
    """Return a pseudo-random sort key that is the same on every machine."""
    return hashlib.sha256(f"{finding.kind} {finding.target}".encode()).hexdigest()


def phrase(finding: Finding, language: Language) -> tuple[str, str]:
    """Phrase a finding as a question: its title and its prompt."""
    path, _, name = finding.target.partition(": ")
    word = finding.target_kind
    if word == "class" and language.name not in _ALL_CLASSES:
        word = "type"
    target = f"the {word} `{name}` (`{path}`)"
    steps = f"in up to {finding.depth} steps" if finding.depth else "in any number of steps"
    kind = finding.kind
    if kind in ("users_in_steps", "all_users"):
        title = f"Who uses `{name}`, directly or {steps}?"
        first = f"Which functions, methods, types and top levels of files use {target}, directly or {steps}?"
        more = [
            f"Step 1 is whatever uses `{name}` itself, step 2 whatever uses a function or method of step 1, and so on."
            " List all steps together.",
            *_use_rules(name, word, language),
            "Steps go on from functions and methods only, not from a class or a top level.",
            "A constructor is used where its class is named.",
        ]
    elif kind in ("direct_users", "class_users", "constant_users"):
        title = f"Who uses `{name}`?"
        first = f"Which functions, methods, types and top levels of files use {target} directly?"
        more = _use_rules(name, word, language)
    elif kind == "importers":
        title = f"Which files import `{path}`, directly or not?"
        first = f"Which files import `{path}`, directly or through other files that they import?"
        more = [_IMPORT_RULES[language.name], f"`{path}` itself is not part of the answer."]
    else:
        title = f"What are the subtypes of `{name}`?"
        first = f"Which types are subtypes of {target}, directly or through other types of this code base?"
        more = [_subtype_rule(language)]
    if outside := finding.outside:
        title = f"{title[:-1]} outside `{outside}/`?"
        first += f" List only what is outside `{outside}/`."
        more.append(
            f"Each top folder is a repository of its own. An import of the package that `{outside}/` provides means the"
            f" code in `{outside}/`. Steps may pass through `{outside}/`."
        )
    form = _FILES if kind == "importers" else _TYPES if kind == "subtypes" else _items(language)
    return title, "\n\n".join([first, _bullets([*more, _scope(language)]), form])


def phrase_change(change: Change, language: Language) -> tuple[str, str]:
    """Phrase a change as a question: its title and its prompt."""
    first = (
        "A change to this code base is described below, in the words of its authors; it has not been made yet. Which"
        " functions and methods have to change for it?"
    )
    quoted = "\n".join(f"> {line}".rstrip() for line in change.message.splitlines())
    rules = [
        "List those that exist now. What the change adds is not asked for.",
        "Give the outermost named function or method, with its class: nested functions, lambdas and callbacks belong to"
        " it.",
        *([_ASSIGNED] if language.name in _SCRIPTS else []),
        *(["A property counts as a method."] if language.name == "csharp" else []),
        "The answer is compared with what the authors changed. Other places may be right as well, so a missing item"
        " costs more than one too many.",
        _scope(language),
    ]
    subject = " ".join(change.message.partition("\n")[0].split())
    title = f"What has to change: {subject}"
    return title, "\n\n".join([first, quoted, _bullets(rules), _items(language)])


_SCRIPTS = ("javascript", "typescript")
_ASSIGNED = (
    "A constant or a property whose value is a function written there, bare or as an argument of a call, is a function"
    " of its name."
)
_USES = {
    "python": ", a default, a decorator, a base class, or code inside an f-string",
    "typescript": ", a default, a base class, a JSX tag, or code inside a template string",
    "go": "",
    "c": "",
}


def _use_rules(name: str, word: str, language: Language) -> list[str]:
    assigned = f" {_ASSIGNED}" if language.name in _SCRIPTS else ""
    uses = _USES.get(language.name, ", an annotation or a base type")
    exports = " and `__all__`" if language.name == "python" else ""
    return [
        f"A use is the name in the text, where it means this {word}: a call, a function passed as a value, a mention in"
        f" a signature or type{uses}. Comments, other strings, import and export lines{exports} do not count.",
        "Give the outermost named function or method, with its class: nested functions, lambdas and callbacks belong to"
        " it. What stands in a class and in none of its methods counts for the class; what stands in neither counts for"
        f" `<top level>` of its file.{assigned}",
        f"`{name}` itself is not part of the answer"
        + (", nor is what it contains." if word in ("class", "type") else "."),
    ]


_IMPORT_RULES = {
    "python": "A file imports another one where an import statement, wherever it stands, names that module or takes a"
    " name out of it. That Python also runs the `__init__.py` of the packages above does not count.",
    "typescript": "A file imports another one where an import or export statement, `require(…)` or `import(…)`,"
    " wherever it stands, names it. Imports of types and `declare module` count.",
}


def _subtype_rule(language: Language) -> str:
    uses = ", or uses it as a trait" if language.name == "php" else ""
    return (
        f"A type is a subtype of another one where its declaration says that it extends or implements it{uses},"
        " directly or through other types of this code base; to have the same methods is not enough."
    )


def _scope(language: Language) -> str:
    tests = "tests, test data, mocks and benchmarks"
    if language.name == "rust":
        tests += " (nor modules under `#[cfg(test)]`)"
    elif language.name == "go":  # whose rule this is
        tests = "`_test.go` files and `testdata` folders"
    return f"Only {language.title} files count, without {tests}, and without generated and vendored files."


def _bullets(rules: Sequence[str]) -> str:
    return "\n".join(f"- {rule}" for rule in rules)


_EXAMPLES = {
    "go": "`Type.Method` for a method",
    "c": "a function's name alone",
}


_FILES = (
    "Answer with one path a line, relative to the code base, in a fenced block labelled `answer`:\n\n"
    "```answer\npath/of/one/file\npath/of/another/file\n```"
)
_TYPES = (
    "Answer with one type a line, its path relative to the code base and its name, in a fenced block labelled"
    " `answer`; a line without both does not count:\n\n```answer\npath/of/the/file: Type\n```"
)


def _items(language: Language) -> str:
    example = _EXAMPLES.get(language.name, "`Class.method` for a method, `Class` for a constructor")
    return (
        f"Answer with one item a line, its path relative to the code base and its name ({example}), in a fenced block"
        " labelled `answer`; a line without both does not count:\n\n"
        "```answer\npath/of/the/file: function\npath/of/the/file: Class.method\npath/of/the/file: <top level>\n```"
    )

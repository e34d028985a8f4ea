"""The share of secrets in another project's tests that is redacted: `python -m tools.bench.trust.gitleaks SOURCES`.

SOURCES is the folder of gitleaks 8.16.0, which Debian serves (`apt-get source --download-only gitleaks`). Its rules
hold examples that they must find, partly drawn anew from a regular expression, and lines that they must not. None of
them is in this repository, and none was chosen here.
"""

from __future__ import annotations

import random
import re
import re._constants as op  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from measure.secrets.names import is_secret_name
from measure.secrets.redaction import redact_text
from tools.bench.trust.faults import Fault

RULES = "cmd/generate/config/rules"
OWN_CODE = ("cmd/*.go", "cmd/generate/config/*.go", "config/*.go", "detect/*.go", "report/*.go", "main.go")
LITERAL = re.compile(r"`[^`]*`|\"(?:\\.|[^\"\\])*\"")
TOKEN = r"[A-Za-z0-9+/=_.-]{16,}|cafebabe:deadbeef|anything|abcdefghijklmnop\w*"
"""What is secret in the examples that are written out, or else the user of an address."""
NOT_SECRET = "service_account"
"""In the one example that names a kind of file and holds no secret."""
DRAWN = 5
"""Times that each example is drawn."""


def drawn(pattern: str, rng: random.Random) -> str:
    """A text that the regular expression matches, of the kinds that the rules use."""
    return "".join(_drawn(parser.parse(pattern), rng))


def _drawn(tree: Any, rng: random.Random) -> Iterator[str]:
    for kind, value in tree:
        if kind is op.LITERAL:
            yield chr(value)
        elif kind is op.IN:
            choices = [range(item[0], item[1] + 1) if k is op.RANGE else [item] for k, item in value]
            yield chr(rng.choice([code for choice in choices for code in choice]))
        elif kind in (op.MAX_REPEAT, op.MIN_REPEAT):
            low, high, part = value
            for _ in range(rng.randint(low, min(int(high), low + 20))):
                yield from _drawn(part, rng)
        elif kind is op.SUBPATTERN:
            yield from _drawn(value[-1], rng)
        elif kind is op.BRANCH:
            yield from _drawn(rng.choice(value[1]), rng)
        else:
            raise ValueError(f"{kind} is in no rule")


def examples(sources: Path, rng: random.Random) -> tuple[list[tuple[str, str]], list[str]]:
    """Texts with the secret in each, and harmless lines."""
    secrets: list[tuple[str, str]] = []
    harmless: list[str] = []
    for file in sorted((sources / RULES).glob("*.go")):
        for function in file.read_text(encoding="utf-8").split("\nfunc ")[1:]:
            for _ in range(DRAWN):
                found, lines = _of_rule(function, rng)
                secrets += found
            harmless += lines
    own = [line for pattern in OWN_CODE for file in sorted(sources.glob(pattern)) for line in _named(file)]
    return secrets, list(dict.fromkeys([*harmless, *own]))


def _named(file: Path) -> Iterator[str]:
    """Lines of code and prose with a word that could name a secret; tests and what a person marked are left out."""
    if file.name.endswith("_test.go"):
        return
    for line in file.read_text(encoding="utf-8").splitlines():
        if "gitleaks:allow" not in line and any(map(is_secret_name, re.findall(r"[A-Za-z_][\w-]*", line))):
            yield line.strip()


def _of_rule(function: str, rng: random.Random) -> tuple[list[tuple[str, str]], list[str]]:
    made: list[str] = []

    def new_secret(pattern: str) -> str:
        made.append(drawn(pattern, rng))
        return made[-1]

    def of(letters: str) -> Any:
        return lambda size: f"[{letters}]{{{size}}}"

    names: dict[str, Any] = {
        "NewSecret": new_secret,
        "generateSampleSecret": lambda name, secret: f'{name}_api_token = "{secret}"',
        "alphaNumeric": of("a-z0-9"),
        "alphaNumericExtended": of(r"a-z0-9=_\-"),
        "alphaNumericExtendedShort": of("a-z0-9_-"),
        "alphaNumericExtendedLong": of(r"a-z0-9\/=_\+\-"),
        "numeric": of("0-9"),
        "hex": of("a-f0-9"),
        "hex8_4_4_4_12": lambda: "[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}",
        "Sprintf": lambda text, *values: text % values,
    }
    code = re.sub(r"\b(?:secrets|fmt)\.", "", _without_comments(function))
    for name, value in re.findall(r"^\t(\w+) := (NewSecret\(.*\))$", code, re.MULTILINE):
        names[name] = eval(_python(value), names)
    found = []
    for text in _list(code, "tps"):
        made.clear()
        line = eval(_python(text), names)
        drawn_before = [value for key, value in names.items() if key.endswith("Token") and str(value) in line]
        user = re.findall(r"://([^/@\s]+)@", line)
        tokens = [*made, *drawn_before] or user or re.findall(TOKEN, line)
        if NOT_SECRET not in line:
            found.append((line, max(tokens, key=len)))
    # What another rule calls a secret under this name is one of the wrong length for this rule alone.
    lines = [eval(_python(text), names) for text in _list(code, "fps") if "generateSampleSecret" not in text]
    return found, lines


def _without_comments(code: str) -> str:
    parts, last = [], 0
    for literal in LITERAL.finditer(code):
        parts += [re.sub(r"//.*", "", code[last : literal.start()]), literal[0]]
        last = literal.end()
    return "".join([*parts, re.sub(r"//.*", "", code[last:])])


def _python(expression: str) -> str:
    text = LITERAL.sub(lambda m: repr(m[0][1:-1]) if m[0][0] == "`" else m[0], expression.strip())
    return f"({text})"


def _list(code: str, name: str) -> list[str]:
    """The expressions of a list of strings."""
    start = code.find(f"{name} := []string{{")
    if start < 0:
        return []
    items, depth, item, at = [], 0, "", code.index("{", start) + 1
    while depth >= 0:
        literal = LITERAL.match(code, at)
        part = literal[0] if literal else code[at]
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(part, 0)
        if depth < 0 or (part == "," and depth == 0):
            items.append(item)
            item = ""
        else:
            item += part
        at += len(part)
    return [item for item in items if item.strip()]


def is_caught(text: str, secret: str) -> bool:
    """Whether no third of the secret is left."""
    clean, piece = redact_text(text), max(6, len(secret) // 3)
    return not any(secret[i : i + piece] in clean for i in range(max(1, len(secret) - piece + 1)))


def tried(sources: Path | None, rng: random.Random) -> list[Fault]:
    """Secrets that must go, and lines that must stay."""
    gone, stay = Fault("secrets in gitleaks' own examples"), Fault("harmless lines of gitleaks' own code")
    if sources is None:
        gone.note = stay.note = "name its sources by --gitleaks"
        return [gone, stay]
    secrets, harmless = examples(sources, rng)
    for text, secret in secrets:
        gone.count([] if is_caught(text, secret) else ["is not redacted"], text)
    for line in harmless:
        stay.count([] if redact_text(line) == line else [f"became {redact_text(line)}"], line)
    return [gone, stay]


if __name__ == "__main__":
    for fault in tried(Path(sys.argv[1]), random.Random(1)):
        print(f"{fault.name}: {fault.held} of {fault.tried}")

"""A task's answer key and its oracle's answer, made with the very functions that its verifier scores with."""

from __future__ import annotations

import importlib.util
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from pipeline.catalog import TEMPLATES
from pipeline.cli import InputError
from pipeline.markdown import as_markdown, fence
from pipeline.records import explain

if TYPE_CHECKING:
    from pipeline.scenario import LoCoBenchTask

# Above this share of the files, naming them tells nothing that naming all would not.
MOST_RELEVANT_SHARE = 0.6
# How many files hold the truth's identifiers, at most, when the truth names none.
MOST_IMPLIED_FILES = 5

Share = Annotated[float, Field(ge=0, le=1)]


class GradingError(ValueError):
    """A ground truth that no answer could be scored against."""


@cache
def verifier() -> ModuleType:
    """Return the verifier that goes into every task, as a module."""
    spec = importlib.util.spec_from_file_location("verify", TEMPLATES / "tests" / "verify.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_DEFAULT = verifier().SCORING


class Weights(BaseModel):
    """Weights of the four components; they are normalised by their sum."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    keyword_overlap: Share = _DEFAULT["weights"]["keyword_overlap"]
    file_references: Share = _DEFAULT["weights"]["file_references"]
    code_blocks: Share = _DEFAULT["weights"]["code_blocks"]
    length_score: Share = _DEFAULT["weights"]["length_score"]

    @model_validator(mode="after")
    def _words_count(self) -> Weights:
        if self.keyword_overlap == 0:
            raise ValueError("keyword_overlap: must be above 0, the other components stand beside it")
        return self


class Scoring(BaseModel):
    """What a scoring file may set; the defaults are those of verify.py, where each is explained."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    weights: Weights = Weights()
    symbol_weight: float = Field(default=_DEFAULT["symbol_weight"], ge=0)
    keyword_floor: float = Field(default=_DEFAULT["keyword_floor"], ge=0, lt=1)
    support: float = Field(default=_DEFAULT["support"], gt=0, le=1)
    code_symbols: int = Field(default=_DEFAULT["code_symbols"], ge=1)
    code_precision: float = Field(default=_DEFAULT["code_precision"], gt=0, le=1)
    length_words: int = Field(default=_DEFAULT["length_words"], ge=1)

    @classmethod
    def load(cls, path: Path) -> Scoring:
        """Read a TOML file.

        Raises:
            InputError: it cannot be read, or a key or value in it is not known.
        """
        try:
            return cls.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise InputError(f"{path}: {error}; --scoring wants a TOML file as docs/VERIFIER.md shows it") from None
        except ValidationError as error:
            raise InputError(f"{path}: {explain(error)}; docs/VERIFIER.md lists what may be set") from None


@dataclass(frozen=True)
class Grading:
    """What the tests need to score a task, and the answer that scores 1."""

    key: dict[str, Any]
    oracle: str


def grade_key(
    task: LoCoBenchTask,
    files: Iterable[str],
    *,
    told: str,
    instruction: str,
    roots: Iterable[str],
    read_text: Callable[[str], str],
    scoring: Scoring,
) -> Grading:
    """Build the key of `task` and the oracle's answer.

    Args:
        files: the context files that exist, as the agent sees them (relative to the project).
        told: the task's own words that the agent reads; files named in them are no knowledge.
        instruction: all that the agent reads; its words are no knowledge.
        roots: folder names that an answer may put before such a path.
        read_text: returns a context file's text; asked only when the ground truth names no file.

    Raises:
        GradingError: the ground truth holds nothing that the task does not give away.
    """
    verify = verifier()
    files, roots = sorted(files), sorted(roots)
    text = as_markdown(task.ground_truth)
    truth = verify.plain(text)
    # The keys of an object are headings of the oracle's answer, not knowledge.
    given_text = "\n".join((verify.plain(instruction), *roots, _keys(task.ground_truth)))
    given = verify.words(given_text) | verify.symbols(given_text)
    words, identifiers = verify.words(truth) - given, verify.symbols(truth) - given
    if not words and not identifiers:
        raise GradingError("ground_truth: holds no informative word that the task does not give away")

    given_files = verify.mentioned_files(told, files, roots)
    named = verify.mentioned_files(truth, files, roots)
    relevant = (named or _holders(identifiers, {path: read_text(path) for path in files})) - given_files
    if len(relevant) > MOST_RELEVANT_SHARE * (len(files) - len(given_files)):
        relevant = set()
    fenced = verify.symbols(verify.fenced_code(truth)) - given
    code = fenced or identifiers

    oracle = text
    if not relevant <= named:
        oracle += "\n\n## Files\n\n" + "\n".join(f"- `{path}`" for path in sorted(relevant))
    if not fenced and code:
        spelled = {verify.symbol(token): token for token in sorted(verify.tokens(truth))}
        oracle += "\n\n## Code\n\n" + fence("\n".join(spelled[name] for name in sorted(code)))
    key = {
        "scoring": scoring.model_dump(),
        "length_words": min(scoring.length_words, len(verify.plain(oracle).split())),
        "given": sorted(given),
        "words": sorted(words),
        "symbols": sorted(identifiers),
        "code_symbols": sorted(code),
        "files": files,
        "roots": roots,
        "given_files": sorted(given_files),
        "relevant_files": sorted(relevant),
    }
    if len(oracle.encode()) > verify.MAX_ANSWER_BYTES:
        raise GradingError(
            f"ground_truth: more than {verify.MAX_ANSWER_BYTES:,} bytes, which is all the verifier reads"
        )
    reward = verify.score(oracle, key)["reward"]
    if reward != 1.0:
        raise GradingError(f"ground_truth: its own answer scores {reward}, not 1.0")
    return Grading(key, oracle)


def _holders(identifiers: set[str], texts: Mapping[str, str]) -> set[str]:
    """Return the files that hold the `identifiers` best: each counts by its rarity over the files."""
    symbols = verifier().symbols
    held = {path: identifiers & symbols(text) for path, text in texts.items()}
    spread = {name: sum(name in found for found in held.values()) for name in identifiers}
    weight = {path: sum(1 / spread[name] for name in sorted(found)) for path, found in held.items() if found}
    best = max(weight.values(), default=0.0)
    ranked = sorted((path for path in weight if weight[path] >= best / 2), key=lambda path: (-weight[path], path))
    return set(ranked[:MOST_IMPLIED_FILES])


def _keys(value: Any) -> str:
    """Return the keys of all objects in `value`."""
    if isinstance(value, dict):
        return " ".join([*(key.replace("_", " ") for key in value), *map(_keys, value.values())])
    return " ".join(map(_keys, value)) if isinstance(value, (list, tuple)) else ""

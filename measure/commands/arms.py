"""Options that select the arms of a comparison, and the exit code of its verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from locobench.harbor.trial import RewardScale
from locobench.shared.errors import InputError
from measure.commands.options import MARGIN_OPTION, METRIC, PATH, reward_hint, reward_options, together
from measure.compare.comparison import compare_arms
from measure.compare.pairing import without_pilot
from measure.compare.verdicts import ArmsComparison, Comparison, Verdict
from measure.records import EvalResult
from measure.report.console import say
from measure.results.names import same_names
from measure.results.sources import choose, is_table, load_source
from measure.results.table import load_table
from measure.summary.metrics import MetricChoice

REGRESSION_THRESHOLD = 0.05
GOT_WORSE, CANNOT_TELL = 1, 2
"""Exit codes of the commands that end in a verdict."""


@dataclass(frozen=True)
class ArmOptions:
    """Which arms are compared, and by what."""

    a: Path
    b: Path | None
    config_a: str | None
    config_b: str | None
    model_a: str | None
    model_b: str | None
    label: tuple[str, ...]
    metric: MetricChoice | None
    threshold: float | None
    margin: float
    treatment: tuple[str, ...]
    regression: bool
    strip_prefix: tuple[str, ...]
    reward_key: str
    reward_range: tuple[float, float]

    def compare(self, more: Sequence[Path] = ()) -> tuple[ArmsComparison, list[tuple[str, list[EvalResult]]]]:
        """Compare B, and each of `more`, with A; return the comparisons and all arms by label.

        A regression test has the defaults of `check_regression`.
        """
        with reward_hint():
            arms = same_names(self._arms(more), self.strip_prefix)
        for label, results in arms[1:]:
            if not {run.task_id for run in arms[0][1]} & {run.task_id for run in results}:
                say(f"{label} and {arms[0][0]} share no task name; --strip-prefix can make them alike", err=True)
        metric: MetricChoice = self.metric or ("pass_rate" if self.regression else "auto")
        threshold = REGRESSION_THRESHOLD if self.regression else 0.0
        found = compare_arms(
            arms,
            metric=metric,
            threshold=threshold if self.threshold is None else self.threshold,
            margin=self.margin,
            treatment=self.treatment,
            fixed_tasks=self.regression,
        )
        return found, [(label, list(runs)) for label, runs in without_pilot(arms)[0]]

    def _arms(self, more: Sequence[Path]) -> list[tuple[str, list[EvalResult]]]:
        """Load all arms by label: as given, else the config, model or name of the file, with a number if it repeats."""
        scale = RewardScale(self.reward_key, *self.reward_range)
        paths = [self.a, *([self.b] if self.b else []), *more]
        chosen = [(self.config_a, self.model_a), (self.config_b, self.model_b), *[(None, None)] * len(more)]
        if len(paths) == 1 and chosen[0] == chosen[1]:
            if not is_table(self.a) or any(chosen[0]):
                raise InputError(f"{self.a}: compare it with a second file, or name --config-a and --config-b")
            arms = load_table(self.a, scale)
            return list(zip(self._labels([*arms]), arms.values(), strict=True))
        if len(paths) == 1:
            paths *= 2
        sources = {path: load_source(path, scale) for path in paths}
        one_model = self.model_a == self.model_b
        names = [
            config or (None if one_model else model) or path.stem
            for path, (config, model) in zip(paths, chosen, strict=True)
        ]
        labels = self._labels([f"{n} ({at})" if names.count(n) > 1 else n for at, n in enumerate(names, start=1)])
        results = [choose(sources[path], *of_arm, path) for path, of_arm in zip(paths, chosen, strict=True)]
        return list(zip(labels, results, strict=True))

    def _labels(self, otherwise: Sequence[str]) -> Sequence[str]:
        """Return the labels given, one for each arm, or those `otherwise`."""
        if self.label and len(self.label) != len(otherwise):
            raise InputError(
                f"--label: {len(self.label)} given for {len(otherwise)} arms; give one for each, in order, or none"
            )
        return self.label or otherwise


arm_options = together(
    click.argument("a", type=PATH),
    click.argument("b", type=PATH, required=False),
    click.option("--config-a", help="Only this config of A."),
    click.option("--config-b", help="Only this config of B."),
    click.option("--model-a", help="Only this model of A."),
    click.option("--model-b", help="Only this model of B."),
    click.option("--label", multiple=True, help="Name of an arm in the report; once for each arm, in their order."),
    click.option(
        "--metric",
        type=METRIC,
        help="What the verdict is about; auto: the score, unless all scores are 0 or 1.  [default: auto, with "
        "--regression pass_rate]",
    ),
    click.option(
        "--threshold",
        type=click.FloatRange(0, 1),
        help=f"Smallest change that counts, 0 to 1.  [default: 0, with --regression {REGRESSION_THRESHOLD}]",
    ),
    MARGIN_OPTION,
    click.option("--treatment", multiple=True, help="Tools that B is about, as a pattern such as mcp__*."),
    click.option("--strip-prefix", multiple=True, help="Leave this out at the start of task names, in every arm."),
    reward_options,
    click.option("--regression", is_flag=True, help="Ask whether B is worse on these very tasks, as a CI job does."),
)


def verdict_code(*comparisons: Comparison) -> int:
    """Return GOT_WORSE if any comparison did, as a whole or in a single task; CANNOT_TELL if any cannot; else 0."""
    if any(comparison.got_worse for comparison in comparisons):
        return GOT_WORSE
    return CANNOT_TELL if any(c.verdict is Verdict.NOT_ENOUGH_DATA for c in comparisons) else 0

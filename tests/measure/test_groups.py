"""Differences within groups of tasks, and groups whose zeros look like a fault."""

from __future__ import annotations

import numpy as np
import pytest

from harness.models import EvalResult
from measure.compare.comparison import compare
from measure.compare.doubts.warnings import many_zeros
from measure.compare.pairing import by_quartile
from measure.compare.verdicts import Comparison, Slice, UnitComparison, UnitKey
from measure.statistics.significance import mean_permutation_test, sign_flip_test
from tests.support.results import run


def scored(scores: list[float], groups: list[dict[str, str]] | None = None, **fields: object) -> list[EvalResult]:
    """One run of each task with the given scores."""
    return [
        run(f"t{i:03}", passed=False, score=float(score), groups=groups[i] if groups else {}, **fields)  # type: ignore[arg-type]
        for i, score in enumerate(scores)
    ]


def slice_of(comparison: Comparison, dimension: str, value: str) -> Slice:
    return next(s for s in comparison.slices if (s.dimension, s.value) == (dimension, value))


def test_every_group_has_its_own_difference() -> None:
    groups = [{"region": "north" if i < 10 else "south"} for i in range(30)]
    noise = [0.01 * (i % 5) for i in range(30)]
    b = [0.5 + (0.2 if i < 10 else 0.0) + noise[i] for i in range(30)]
    comparison = compare(scored([0.5] * 30, groups), scored(b, groups))
    north, south = slice_of(comparison, "region", "north"), slice_of(comparison, "region", "south")
    assert (north.tasks, south.tasks) == (10, 20)
    assert north.difference == pytest.approx(0.22)
    assert [north.mean_a, north.mean_b] == pytest.approx([0.5, 0.72])
    assert south.difference == pytest.approx(0.02)


def test_interval_and_p_of_a_group_are_those_of_the_sign_flip_test_at_holms_level() -> None:
    rng = np.random.default_rng(3)
    groups = [{"size": "small" if i < 12 else "large"} for i in range(24)]
    a, b = rng.uniform(0.2, 0.5, 24), rng.uniform(0.3, 0.9, 24)
    comparison = compare(scored(list(a), groups), scored(list(b), groups))
    ps = {"small": (b - a)[:12], "large": (b - a)[12:]}
    found = {name: sign_flip_test(list(d)).p.two_sided for name, d in ps.items()}
    first = min(found, key=lambda name: found[name])
    for name, d in ps.items():
        part = slice_of(comparison, "size", name)
        assert part.p == found[name]
        assert part.interval == sign_flip_test(list(d), confidence=0.975 if name == first else 0.95).interval
    assert slice_of(comparison, "size", first).adjusted_p == pytest.approx(2 * found[first])


def test_a_group_is_clear_of_0_exactly_where_its_p_is_below_the_level() -> None:
    """Four tasks that all rose are too few for any test, however far they rose."""
    groups = [{"kind": "few" if i < 4 else f"k{i % 3}"} for i in range(64)]
    b = [0.7 + i / 1000 if i < 4 else 0.5 + 0.05 * (i % 5) for i in range(64)]
    comparison = compare(scored([0.5] * 64, groups), scored(b, groups))
    few = slice_of(comparison, "kind", "few")
    assert few.interval is None
    for part in comparison.slices:
        assert (part.interval is not None and part.interval.low > 0) == (part.adjusted_p <= 0.05)


def test_a_group_of_many_numbers_is_shown_by_quartile() -> None:
    groups = [{"context_length": str(1000 * (i + 1))} for i in range(40)]
    comparison = compare(scored([0.5] * 40, groups), scored([0.6] * 40, groups))
    values = [(s.value, s.tasks) for s in comparison.slices if s.dimension == "context_length"]
    assert values == [
        ("Q1: 1,000 to 10,000", 10),
        ("Q2: 11,000 to 20,000", 10),
        ("Q3: 21,000 to 30,000", 10),
        ("Q4: 31,000 to 40,000", 10),
    ]


def test_configs_that_the_arms_do_not_share_are_groups_of_their_arm() -> None:
    a = [{"config_a": "local" if i % 2 else "remote"} for i in range(20)]
    comparison = compare(scored([0.5] * 20, a), scored([0.4] * 20))
    assert {s.value for s in comparison.slices if s.dimension == "config_a"} == {"local", "remote"}


def test_a_column_in_which_runs_of_a_task_differ_is_no_group() -> None:
    """Tasks that A lost are better in B although nothing changed: by chance, they go back to their mean."""
    rng = np.random.default_rng(1)
    arms = [
        [
            run(f"t{i:02}", passed=won, groups={"resolved": str(won), "kind": str(i % 2)})
            for i, won in enumerate(rng.random(60) < 0.5)
        ]
        for _ in "ab"
    ]
    assert {s.dimension for s in compare(*arms).slices} == {"kind"}


def test_tasks_that_were_better_the_same_and_worse_are_counted() -> None:
    shares = compare(scored([0.5] * 6), scored([0.6, 0.6, 0.6, 0.5, 0.5, 0.1])).shares
    assert shares == {"better": 3, "the same": 2, "worse": 1}


def even_table(seed: int, pairs: int) -> list[UnitComparison]:
    """Pairs with the same small effect everywhere, in groups of many sizes that mean nothing."""
    rng = np.random.default_rng(seed)
    units = []
    for i in range(pairs):
        a = float(np.clip(rng.beta(2, 2) - 0.2, 0, 1))
        b = float(np.clip(a + 0.05 + rng.normal(0, 0.15), 0, 1))
        groups = {
            "category": str(rng.integers(8)),
            "language": str(rng.integers(10)),
            "difficulty": str(rng.integers(3)),
            "config_a": str(rng.choice(["plain", "local", "artifact"], p=[0.5, 0.42, 0.08])),
            "config_b": str(rng.integers(3)),
            "context_length": str(rng.integers(1000, 100_000)),
        }
        units.append(
            UnitComparison(
                key=UnitKey(f"t{i}"),
                metric="score",
                scores_a=(a,),
                scores_b=(b,),
                passed_a=0,
                passed_b=0,
                difference=b - a,
                p=mean_permutation_test([a], [b]),
                groups=groups,
            )
        )
    return by_quartile(units)


@pytest.mark.slow
def test_with_an_even_effect_zeros_of_a_group_are_named_in_at_most_5_of_100_tables() -> None:
    tables = [even_table(seed, 120) for seed in range(100)]
    assert sum(bool(many_zeros(units)) for units in tables) <= 5


def planted() -> tuple[list[EvalResult], list[EvalResult]]:
    """250 pairs without an effect, but for 20 of one config of A, which all scored 0."""
    rng = np.random.default_rng(5)
    groups = [
        {"config_a": "artifact" if i < 20 else "local" if i % 2 else "plain", "language": str(i % 7)}
        for i in range(250)
    ]
    base = rng.uniform(0.3, 0.7, 250)
    a = np.where(np.arange(250) < 20, 0.0, base + rng.normal(0, 0.05, 250))
    return scored(list(a), groups), scored(list(base), [{"language": g["language"]} for g in groups])


def test_zeros_of_one_config_of_one_arm_are_counted_against_the_rest_and_the_other_arm() -> None:
    told = "\n".join(compare(*planted()).warnings)
    assert "A: 20 of 20 runs with config_a 'artifact' scored 0 (B: 0 of 20; the rest of A: 0" in told
    assert told.count("the rest of A: 0 of 230") == told.count("the rest of") == 1


def test_a_hard_group_that_scores_0_in_both_arms_is_no_cluster_of_zeros() -> None:
    groups = [{"category": "hard" if i < 20 else "easy"} for i in range(60)]
    scores = [0.0 if i < 20 else 0.5 for i in range(60)]
    assert "scored 0" not in "\n".join(compare(scored(scores, groups), scored(scores, groups)).warnings)

"""What do counts and paired differences say? The formulas behind every rate, interval and verdict."""

from harness.statistics.agreement import cohen_kappa
from harness.statistics.intervals import (
    Interval,
    paired_bootstrap,
    ratio_bootstrap,
    t_interval,
    wilson_interval,
)
from harness.statistics.multiplicity import discrete_benjamini_hochberg, holm
from harness.statistics.power import (
    MOST_TASKS,
    design_sd,
    minimal_detectable_effect,
    paired_power,
    score_sd,
    tasks_needed,
)
from harness.statistics.rates import pass_at_k, pass_hat_k
from harness.statistics.resampling import RESAMPLES, SEED, TIE
from harness.statistics.significance import (
    EXACT_SIGN_FLIPS,
    STEPS_TO,
    OneSided,
    fisher_test,
    mean_permutation_test,
    sign_flip_test,
)

__all__ = [
    "EXACT_SIGN_FLIPS",
    "MOST_TASKS",
    "RESAMPLES",
    "SEED",
    "STEPS_TO",
    "TIE",
    "Interval",
    "OneSided",
    "cohen_kappa",
    "design_sd",
    "discrete_benjamini_hochberg",
    "fisher_test",
    "holm",
    "mean_permutation_test",
    "minimal_detectable_effect",
    "paired_bootstrap",
    "paired_power",
    "pass_at_k",
    "pass_hat_k",
    "ratio_bootstrap",
    "score_sd",
    "sign_flip_test",
    "t_interval",
    "tasks_needed",
    "wilson_interval",
]

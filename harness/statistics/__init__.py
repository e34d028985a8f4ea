"""What do counts and paired differences say? The formulas behind every rate, interval and verdict."""

from harness.statistics.agreement import cohen_kappa
from harness.statistics.intervals import (
    Interval,
    cluster_sums,
    ratio_bootstrap,
    standard_error,
    t_interval,
    wilson_interval,
)
from harness.statistics.multiplicity import discrete_benjamini_hochberg, holm
from harness.statistics.power import (
    ALPHA,
    MOST_TASKS,
    TARGET_POWER,
    difference_sd,
    minimal_detectable_effect,
    paired_power,
    pass_sd,
    tasks_needed,
)
from harness.statistics.rates import pass_at_k, pass_hat_k
from harness.statistics.resampling import CONFIDENCE, RESAMPLES, SEED, TIE
from harness.statistics.significance import (
    EXACT_SIGN_FLIPS,
    STEPS_TO,
    OneSided,
    Shift,
    fisher_test,
    mean_permutation_test,
    sign_flip_test,
    stratified_test,
)

__all__ = [
    "ALPHA",
    "CONFIDENCE",
    "EXACT_SIGN_FLIPS",
    "MOST_TASKS",
    "RESAMPLES",
    "SEED",
    "STEPS_TO",
    "TARGET_POWER",
    "TIE",
    "Interval",
    "OneSided",
    "Shift",
    "cluster_sums",
    "cohen_kappa",
    "difference_sd",
    "discrete_benjamini_hochberg",
    "fisher_test",
    "holm",
    "mean_permutation_test",
    "minimal_detectable_effect",
    "paired_power",
    "pass_at_k",
    "pass_hat_k",
    "pass_sd",
    "ratio_bootstrap",
    "sign_flip_test",
    "standard_error",
    "stratified_test",
    "t_interval",
    "tasks_needed",
    "wilson_interval",
]

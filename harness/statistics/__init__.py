"""What do counts and paired differences say? The formulas behind every rate, interval and verdict."""

from harness.statistics.estimates import pass_at_k as pass_at_k
from harness.statistics.estimates import pass_hat_k as pass_hat_k
from harness.statistics.estimates import wilson_interval as wilson_interval

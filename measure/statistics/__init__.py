"""Statistics of counts and paired differences: the formulas behind every rate, interval and verdict."""

from measure.statistics.estimates import pass_at_k as pass_at_k
from measure.statistics.estimates import pass_hat_k as pass_hat_k
from measure.statistics.estimates import wilson_interval as wilson_interval

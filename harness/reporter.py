"""Reports of results and comparisons, from `measure`."""

from __future__ import annotations

from measure.report.reporter import Reporter as Reporter
from measure.summary.metrics import AggregatedMetrics as AggregatedMetrics

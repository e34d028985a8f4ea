"""Reports of results and comparisons, from `measure`."""

from __future__ import annotations

from measure.compare.metrics import AggregatedMetrics as AggregatedMetrics
from measure.report.reporter import Reporter as Reporter

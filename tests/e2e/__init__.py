"""Tests with the real programs this project drives; run by `make e2e`."""

"""Figures to quote: `python -m tests.benchmarks` prints medians and ratios, each from one run. Not part of the tests."""

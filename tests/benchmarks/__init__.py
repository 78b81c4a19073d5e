"""Benchmarks: `python -m tests.benchmarks` prints medians and ratios of one run each.

They are not part of the tests.
"""

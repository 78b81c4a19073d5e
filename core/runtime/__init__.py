"""Execution of work: jobs in threads, subprocesses, turns, locks, and the measurement of time."""

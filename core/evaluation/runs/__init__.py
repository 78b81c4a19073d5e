"""Runs of methods on question sets, saved row by row."""

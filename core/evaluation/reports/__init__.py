"""Evaluations reported: summaries, tables, plots, files."""

"""Evaluations told: summaries, tables, plots, files."""

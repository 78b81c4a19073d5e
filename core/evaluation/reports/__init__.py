"""Reports of evaluations: summaries, tables, plots and files."""

"""Export of graphs to files that other tools read."""

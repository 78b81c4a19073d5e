"""Export of evaluation results to the files that other tools read."""

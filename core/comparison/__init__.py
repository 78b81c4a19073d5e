"""Comparisons of several methods on one question: their runs, queues and times."""

"""Comparisons of several methods on one question: their runs, queues and times.

A lane is one method's run in a comparison. A line is the sequence of operators of a method. A build
is a recipe that makes a graph from a corpus.
"""

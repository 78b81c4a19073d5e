"""Advice on whether the documents of a corpus need a graph.

Questions are made from the documents, methods with and without a graph are run on them, and the
result is a recommendation.
"""

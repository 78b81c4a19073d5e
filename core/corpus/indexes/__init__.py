"""Indexes of other tools, read from their folders.

An index holds documents, chunks, and a graph with descriptions, communities and reports.
"""

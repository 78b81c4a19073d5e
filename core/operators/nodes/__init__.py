"""Operators that retrieve and rerank the nodes of a corpus graph.

The nodes are documents, or entities that documents mention.
"""

"""Operators that retrieve and rerank the nodes of a corpus graph.

Nodes are documents and the things that these are linked to.
"""

"""Operators that retrieve and re-rank the nodes of a corpus graph: documents, and what they are linked to."""

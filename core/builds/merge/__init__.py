"""Operators of stages “merge” and “link”. They make a graph of facts and add edges to it."""

"""Operators of stages “merge” and “link”, which make a graph of facts and add edges to it."""

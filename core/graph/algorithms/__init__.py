"""Algorithms on the arrays of a graph."""

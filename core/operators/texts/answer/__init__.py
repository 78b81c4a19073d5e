"""Operators that answer from hits of graphs made of texts."""

"""Operators that answer from the hits of a search in documents."""

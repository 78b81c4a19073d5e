"""Operators that find paths."""

"""Sorting and searching of names as bytes."""

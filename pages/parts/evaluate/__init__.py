"""Evaluations and the search for a method."""

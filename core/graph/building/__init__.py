"""Graphs built from triples, and exported into a database."""

"""Graphs on disk: written, opened, cut out, read from a database."""

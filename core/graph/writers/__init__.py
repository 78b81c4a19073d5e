"""Graphs written to files, in formats that other tools read."""

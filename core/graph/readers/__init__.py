"""Triples read from files of any format."""

"""Clients of language models and their common parts."""

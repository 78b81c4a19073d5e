"""Operators on graphs made of texts: retrieval of hits, and answers from them."""

"""Retrieval on graphs made of texts: hits of each kind, and answers from tables of them."""

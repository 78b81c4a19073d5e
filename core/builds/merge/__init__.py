"""Stages “merge” and “link”: one graph of the facts of all chunks, and edges added to it."""

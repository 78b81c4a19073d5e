"""Retrievers of a person's own: declared in a file of theirs, asked over HTTP or called in Python, their replies checked."""

"""A user's own retrievers: declared in a file, called over HTTP or in Python, and checked."""

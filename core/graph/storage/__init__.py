"""Storage of graphs on disk: writing, opening, digests and excerpts."""

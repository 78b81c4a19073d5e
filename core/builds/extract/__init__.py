"""Operators of stage “extract”, which read each chunk. They use a parser or a language model."""

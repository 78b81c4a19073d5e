"""Operators of stage “extract”, in which a parser or a language model reads each chunk."""

"""Stage “extract”: what the text of each chunk says, found by a parser or a language model."""

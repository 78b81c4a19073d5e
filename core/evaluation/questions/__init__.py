"""Questions written for a corpus by a language model."""

"""Questions made for a corpus, by a language model or from the names in its texts."""

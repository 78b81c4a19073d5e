"""Parts for the question: bar, permalink, corpus and sets."""

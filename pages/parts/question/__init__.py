"""Parts for the question: its bar, its permalink, its corpus and the question sets."""

"""Parts for the question: its bar, its address, its documents and its sets."""

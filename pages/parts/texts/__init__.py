"""The texts' pages: documents, builds at work, and the graphs that came out."""

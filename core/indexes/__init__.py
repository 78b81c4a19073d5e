"""What is prepared ahead for a graph and kept beside it."""

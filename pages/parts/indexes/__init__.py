"""What is prepared for a graph."""

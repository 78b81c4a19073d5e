"""Tables of published papers: printed figures, measured figures, and their comparison."""

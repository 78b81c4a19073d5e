"""Whether answers are right, and where they were lost."""

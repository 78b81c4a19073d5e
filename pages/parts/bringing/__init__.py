"""Import of files, databases, indexes and runs."""

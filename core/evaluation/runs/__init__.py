"""Question sets run by methods, kept row by row."""

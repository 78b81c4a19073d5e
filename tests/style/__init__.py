"""Measures of this project's size and readability, and the limits that it keeps."""

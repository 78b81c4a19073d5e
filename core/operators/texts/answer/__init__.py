"""Answers from what was retrieved from graphs made of texts."""

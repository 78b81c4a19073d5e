"""Answers to abstract questions held against one another in pairs by a language model."""

"""Pairwise comparison of answers to abstract questions by a language model."""

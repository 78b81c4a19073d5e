"""Pairwise comparison of answers to abstract questions by a language model.

Abstract questions have no known answers, so a judge compares the answers of two methods.
"""

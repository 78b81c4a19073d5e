"""Diagnosis of a comparison: where correct answers were lost, and how to get them back."""

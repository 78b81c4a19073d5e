"""Diagnosis of lost correct answers, and ways to get them back."""

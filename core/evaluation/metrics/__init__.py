"""Metrics of an answered question, and statistics over questions."""

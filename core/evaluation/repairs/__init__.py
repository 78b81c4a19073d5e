"""Reasons why questions of a run are lost, and trials of changes of one step on all questions."""

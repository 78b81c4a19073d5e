"""Reasons why questions of a run are lost, and trials of changes that may recover them.

A question is lost by a method that did not find its evidence or did not answer it correctly.
"""

"""Reasons for the lost questions of a run, and trials of repairs.

A repair is a change that may recover questions. A question is lost by a method that did not find
its evidence or did not answer it correctly.
"""

"""Audit of a question set: faults of its keys and evidence, copies, and what the set can decide.

`audit.audit_questions` makes the findings, and `decisions` saves what a person decides on them.
"""

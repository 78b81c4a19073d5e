"""Finished runs of other programs: rankings, contexts and answers read from files.

They are saved and looked up by question.
"""

"""Finished runs of other programs: rankings, contexts and answers that are read from files.

`formats` recognises and reads the files, and `saved_runs` saves the runs and finds the row of a
question.
"""

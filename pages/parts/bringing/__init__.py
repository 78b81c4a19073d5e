"""Import of files, databases, indexes and runs.

The drop zone recognises the kind of an input and draws the form of that kind.
"""

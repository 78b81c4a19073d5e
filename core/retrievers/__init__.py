"""A user's own retrievers: declarations, calls, and checks of their replies.

The package `runs` reads finished runs of other programs from files.
"""

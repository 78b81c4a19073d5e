"""The board: a comparison drawn as lanes on one shared picture, and its HTML report.

A lane is one retrieval method that answers the question. The Python code makes the board's data,
and the JavaScript in assets/board draws it.
"""

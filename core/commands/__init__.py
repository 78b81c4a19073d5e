"""Commands of the command line, one module each.

`add(commands)` adds a command with its options to the parser and sets the function that runs it.
"""

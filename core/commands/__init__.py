"""Commands of the command line, one module each.

`add_command(subparsers)` adds a command with its options, and sets the function that runs it.
"""

"""Commands of the command line, one module each.

`add_command(subparsers)` adds a command with its options, and sets the function that runs it. That
function takes the parsed options and returns the exit code (see `core.commands.terminal`).
"""

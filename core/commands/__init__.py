"""The command line's commands, one small module each; `add(commands)` gives one its grammar and says what it runs."""

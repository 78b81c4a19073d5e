"""The line that is being built."""

"""Jobs, worker processes, and the meter of the time that work takes."""

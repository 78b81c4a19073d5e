"""Work: jobs, worker processes, and the meter of what they spend."""

"""A question asked of several lanes: their runs, queues and times."""

"""Files, databases and durations, which every floor uses."""

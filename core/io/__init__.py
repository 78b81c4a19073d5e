"""Files, databases and durations: what every floor stands on."""

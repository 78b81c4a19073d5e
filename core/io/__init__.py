"""Files, databases and durations, which all other packages use."""

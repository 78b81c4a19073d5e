"""Files, databases, indexes and runs that a person brings."""

"""The search for a method that answers a set of questions best."""

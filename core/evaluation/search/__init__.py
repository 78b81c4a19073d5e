"""Search for the method that answers a set of questions best."""

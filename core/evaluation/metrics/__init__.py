"""What is measured of an answered question, and statistics on it."""

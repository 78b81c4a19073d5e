"""What an evaluation found, in the files that other tools read."""

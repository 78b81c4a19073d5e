"""What every page starts from."""

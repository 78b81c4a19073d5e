"""Indexes prepared ahead for a graph and saved next to it."""

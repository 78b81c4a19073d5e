"""Indexes of a graph, such as vectors and communities: built once and saved next to it."""

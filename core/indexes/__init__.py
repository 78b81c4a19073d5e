"""Indexes of a graph, such as vectors, built once and saved next to it."""

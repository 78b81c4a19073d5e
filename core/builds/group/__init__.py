"""Operators of stages “group” and “tell”: communities, their reports, and summary trees."""

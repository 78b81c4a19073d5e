"""Choosing a method and changing its steps."""

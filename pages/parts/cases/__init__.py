"""Saved cases."""

"""The films graph and written-down models for every test of the engine."""

from tests.films import films, kit

__all__ = ["films", "kit"]

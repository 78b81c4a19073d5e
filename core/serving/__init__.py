"""Servers that offer the engine to other programs: the Model Context Protocol and HTTP."""

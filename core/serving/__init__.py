"""Servers that offer the engine to other programs: the Model Context Protocol and HTTP.

Both forward requests to the functions of `core.serving.calls`.
"""

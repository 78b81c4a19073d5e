"""Graphs in external databases, copied with limits or queried live.

They are SPARQL endpoints, and databases with the Bolt protocol and Cypher.
"""

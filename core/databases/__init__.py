"""Graphs in external databases, copied with limits or queried live.

The databases are SPARQL endpoints, and those that speak Bolt and Cypher.
"""

"""Graphs in external databases, copied with limits or queried live.

They are SPARQL endpoints, and databases with the Bolt protocol and Cypher.
"""

LIVE_FILE = "live.toml"  # settings of a database that is queried live, in the graph's folder

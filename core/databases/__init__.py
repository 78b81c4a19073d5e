"""Graphs in databases of others, copied in with limits: SPARQL endpoints, and what speaks Bolt and Cypher."""

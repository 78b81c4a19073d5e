"""Construction of graph stores from triples and texts."""

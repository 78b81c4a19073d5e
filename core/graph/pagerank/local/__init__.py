"""Local push: PageRank that visits only the nodes that mass reaches.

Visited nodes are kept in hashed work arrays, which other local searches use, too.
"""

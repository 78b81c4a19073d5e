"""Personalised PageRank: exactly for all nodes, or the best nodes by several methods."""

"""Personalised PageRank: of all nodes, exactly, and the best nodes, by a choice of methods."""

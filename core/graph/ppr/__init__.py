"""Personalised PageRank by method: one module each, behind the one door `core.graph.pagerank.top_pagerank`."""

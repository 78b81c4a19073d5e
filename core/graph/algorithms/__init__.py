"""Graph algorithms for retrieval: paths, walks, neighbourhoods, communities, trees and layouts.

Personalised PageRank is in `core.graph.pagerank`.
"""

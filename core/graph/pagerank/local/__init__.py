"""Local push: PageRank that visits only the nodes that mass reaches, for very large graphs.

- `push`: the search, whose threshold falls until the best nodes are stable.
- `extrapolate`: prediction of the scores from an unfinished push.
- `refine`: recomputation of the scores close to the `keep`-th best.
- `table`: hashed work arrays of the visited nodes, which FORA, TopPPR and RBS use, too.
- `disk`: reading of pages from the disk ahead of the search.
- `push_loops`, `refine_loops`: compiled loops.
"""

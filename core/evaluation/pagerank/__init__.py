"""Methods of PageRank held against the exact one."""

"""Stage “group”: communities and their reports, trees of summaries."""

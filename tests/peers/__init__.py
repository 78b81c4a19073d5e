"""Published programs driven beside ours: the same texts, model replies and vectors, and what came of them, kept in `recorded`."""

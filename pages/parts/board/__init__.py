"""A comparison as it is drawn: the board, its data, its report."""

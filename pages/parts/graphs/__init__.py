"""A graph's pages: its picture, a walk, adding graphs and questions."""

"""Map of a graph, drawn on a canvas in the browser."""

"""Whether a graph is needed for the documents of a corpus: questions made from them, methods with and without a graph, and an answer."""

"""Parts that choose a method, and suggest the size of its subgraph."""

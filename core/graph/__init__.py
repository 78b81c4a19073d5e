"""The graph store and the algorithms on its arrays."""

"""The graph store and the algorithms on its arrays."""

from core.graph.compiled import keep_loops_by_source

keep_loops_by_source()

"""The graph store and the algorithms on its arrays."""

from core.graph.compiled import set_numba_cache_folder

set_numba_cache_folder()

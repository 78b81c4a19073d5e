"""Knowledge graphs: their store in memory-mapped arrays, readers, builds and algorithms.

Importing the package sets numba's cache folder, which must happen before numba compiles a function.
"""

from core.graph.compiled import set_numba_cache_folder

set_numba_cache_folder()

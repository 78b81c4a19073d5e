"""Reproducible random numbers in igraph, whose generator all threads of a process share."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_igraph_lock = threading.Lock()


@contextmanager
def seed_igraph(seed: int) -> Iterator[None]:
    """Seed igraph's random generator within the block.

    Other threads that want to seed it wait for the end of the block, so the same seed always gives
    the same numbers. Afterwards the generator is Python's `random` module, igraph's default.

    >>> import igraph
    >>> from core.graph.algorithms.igraph_seed import seed_igraph
    >>> def draw_edges():
    ...     with seed_igraph(7):
    ...         return igraph.Graph.Erdos_Renyi(20, 0.3).get_edgelist()
    >>> draw_edges() == draw_edges()
    True
    """
    import igraph

    with _igraph_lock:
        igraph.set_random_number_generator(random.Random(seed))
        try:
            yield
        finally:
            igraph.set_random_number_generator(random)

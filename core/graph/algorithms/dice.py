"""Seeded use of igraph's random generator, which is shared by the whole process."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()


@contextmanager
def dice(seed: int) -> Iterator[None]:
    """Seed igraph's random generator for the code inside.

    A lock keeps other threads out meanwhile, so the same seed always gives the same numbers.

    >>> import igraph
    >>> from core.graph.algorithms.dice import dice
    >>> def drawn():
    ...     with dice(7):
    ...         return igraph.Graph.Erdos_Renyi(20, 0.3).get_edgelist()
    >>> drawn() == drawn()
    True
    """
    import igraph

    with _lock:
        igraph.set_random_number_generator(random.Random(seed))
        try:
            yield
        finally:
            igraph.set_random_number_generator(random)

"""igraph's random generator, one for the process, lent to one piece of work at a time."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()


@contextmanager
def dice(seed: int) -> Iterator[None]:
    """What igraph draws inside is drawn by a generator of that seed alone, whatever other threads do: the same every time.

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

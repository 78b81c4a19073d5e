"""Presence of igraph, an optional library, and reproducible random numbers in it.

igraph is under the GPL, so Hopscope does not install it unless asked to. Without it, Leiden runs on
arrays (`core.graph.large`) and networkx draws. The communities are as good, but not the same.
"""

from __future__ import annotations

import importlib.util
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

WITHOUT_IGRAPH_NOTE = (
    "igraph is not installed, so the communities are those of Hopscope's own Leiden algorithm; "
    "igraph may find others."
)
# Mark of what rests on such communities, in names of files and keys of caches.
ARRAYS_MARK = "-arrays"
_igraph_lock = threading.Lock()


@cache
def has_igraph() -> bool:
    """Return whether igraph is installed."""
    return importlib.util.find_spec("igraph") is not None


def uses_igraph(n_edges: int, max_edges: int) -> bool:
    """Return whether igraph clusters a graph of `n_edges` edges.

    It does if it is installed and there are at most `max_edges`.
    """
    return n_edges <= max_edges and has_igraph()


def community_mark() -> str:
    """Return the mark of communities that are found now; empty with igraph."""
    return "" if has_igraph() else ARRAYS_MARK


def community_notes() -> tuple[str, ...]:
    """Return a sentence on communities that are found without igraph; none with igraph."""
    return () if has_igraph() else (WITHOUT_IGRAPH_NOTE,)


@contextmanager
def seed_igraph(seed: int) -> Iterator[None]:
    """Seed igraph's random generator within the block.

    Other threads that want to seed it wait for the end of the block, so the same seed always gives
    the same numbers. Afterwards the generator is Python's `random` module, igraph's default.

    >>> import igraph
    >>> from core.graph.algorithms.igraph_library import seed_igraph
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

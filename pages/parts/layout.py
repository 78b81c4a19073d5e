"""One place for every node, shared by all lanes of a comparison."""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence

import igraph
import numpy as np

_LOCK = threading.Lock()  # igraph's source of random numbers is one for the process


def positions(nodes: Sequence[int], edges: Sequence[tuple[int, int]], seed: int = 0) -> dict[int, tuple[float, float]]:
    """Coordinates in 0..1 for each node: drawn near to what it is joined to (Kamada-Kawai, components side by side)."""
    if not nodes:
        return {}
    index = {node: i for i, node in enumerate(nodes)}
    joined = sorted({(min(index[a], index[b]), max(index[a], index[b])) for a, b in edges if a != b})
    graph = igraph.Graph(len(nodes), joined)
    with _LOCK:
        igraph.set_random_number_generator(random.Random(seed))
        layout = graph.layout_kamada_kawai() if graph.is_connected() else graph.layout_fruchterman_reingold(grid=False)
    xy = np.asarray(layout.coords)
    spread = np.maximum(xy.max(0) - xy.min(0), 1e-9)
    xy = np.where(xy.max(0) - xy.min(0) < 1e-9, 0.5, (xy - xy.min(0)) / spread)
    return {node: (round(float(x), 4), round(float(y), 4)) for node, (x, y) in zip(nodes, xy)}

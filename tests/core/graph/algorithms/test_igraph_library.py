"""Seeded igraph layouts and communities are the same while other threads draw random numbers."""

from __future__ import annotations

import threading

import igraph
import numpy as np

from core.graph.algorithms.igraph_library import seed_igraph
from core.graph.algorithms.layout import node_positions
from core.graph.algorithms.leiden import detect_communities


def test_layout_and_communities_are_the_same_when_they_interleave(movies):
    # The graph is not connected, so its layout has a random part.
    nodes, edges = (list(range(60)), [(i, (i * 7 + 3) % 50) for i in range(50)])
    places, found = (node_positions(nodes, edges), detect_communities(movies, 100))
    other: list = []
    stop = threading.Event()

    def draw():
        while not stop.is_set():
            other.append(node_positions(nodes, edges) == places)

    thread = threading.Thread(target=draw)
    thread.start()
    try:
        again = detect_communities(movies, 100)
    finally:
        stop.set()
        thread.join()
    assert np.array_equal(found, again) and other and all(other)


def test_random_numbers_outside_do_not_come_from_the_seeded_generator():
    with seed_igraph(1):
        inside = igraph.Graph.Erdos_Renyi(n=20, m=30).get_edgelist()
    with seed_igraph(1):
        assert igraph.Graph.Erdos_Renyi(n=20, m=30).get_edgelist() == inside
    assert any(igraph.Graph.Erdos_Renyi(n=20, m=30).get_edgelist() != inside for _ in range(3))

"""Directional distance encoding by hand."""

import numpy as np

from core.graph.algorithms.directional import directional_distances, distance_width


def test_two_rounds_each_way_by_hand():
    # Edges: entity 0 -> 1 -> 2, and 3 -> 1. The two columns of a round are the shares of
    # non-entities and of entities among the heads of the round before.
    heads, tails = np.array([0, 1, 3]), np.array([1, 2, 1])
    found = directional_distances(heads, tails, np.array([True, False, False, False]))
    assert found.shape == (4, distance_width()) and found.dtype == np.float32
    topic, first, second, back, back_again = (
        found[:, at : at + 2].tolist() for at in range(0, 10, 2)
    )
    assert topic == [[0, 1], [1, 0], [1, 0], [1, 0]]
    # Node 1 has the heads 0 and 3, node 2 has the head 1.
    assert first == [[0, 0], [0.5, 0.5], [1, 0], [0, 0]]
    assert second == [[0, 0], [0, 0], [0.5, 0.5], [0, 0]]  # Node 2 has what node 1 had.
    assert back == [[1, 0], [1, 0], [0, 0], [1, 0]]  # Nodes 0 and 3 lead to 1, and 1 leads to 2.
    assert back_again == [[1, 0], [0, 0], [0, 0], [1, 0]]


def test_a_graph_without_triples_and_parallel_triples():
    none = np.empty(0, np.int64)
    assert directional_distances(none, none, np.array([True])).tolist() == [[0, 1] + [0] * 8]
    twice = directional_distances(np.array([0, 0]), np.array([1, 1]), np.array([True, False]))
    assert np.array_equal(
        twice, directional_distances(np.array([0]), np.array([1]), np.array([True, False]))
    )

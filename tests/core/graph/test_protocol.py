"""Steps, degrees and triples of a graph agree; path texts by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import BadParameter
from core.graph.building.build import build_in_memory
from core.types import Path
from tests.core.graph.strategies import TRIPLE, directions

graphs = st.lists(TRIPLE, min_size=1, max_size=24).map(
    lambda triples: build_in_memory([(f"n{h}", f"r{r}", f"n{t}") for h, r, t in triples], "g")
)


def have_equal_parts(found, expected):
    return [part.tolist() for part in found] == [part.tolist() for part in expected]


@settings(max_examples=25, deadline=None)
@given(graphs, directions, st.data())
def test_steps_degrees_and_triples_fit_each_other(graph, direction, data):
    nodes = np.array(data.draw(st.lists(st.integers(0, graph.n_nodes - 1), max_size=6)), np.int64)
    steps = graph.steps_from(nodes, direction)
    assert (
        np.bincount(steps.rows, minlength=len(nodes)).tolist()
        == graph.degrees(nodes, direction).tolist()
    )
    heads, relations, tails = graph.triples(steps.edges)
    here = nodes[steps.rows]
    assert (here == np.where(steps.forward, heads, tails)).all() and (
        steps.nodes == np.where(steps.forward, tails, heads)
    ).all()
    assert (relations == steps.relations).all() and sorted(~steps.forward) == (
        ~steps.forward
    ).tolist()
    for place, node in enumerate(nodes.tolist()):
        mine = steps.rows == place
        assert have_equal_parts(
            graph.steps(node, direction),
            (steps.nodes[mine], steps.edges[mine], steps.forward[mine]),
        )


def test_texts_by_hand(toy):
    # A -r0-> B -r2-> C, and C against r2 to B; the loop D -r6-> D.
    paths = [
        Path((0, 1, 2), (0, 2), (True, True)),
        Path((2, 1), (2,), (False,)),
        Path((3, 3), (5,), (True,)),
        Path((4,)),
    ]
    assert toy.texts(paths) == [
        "A -> r0 -> B -> r2 -> C",
        "C -> r2_reverse -> B",
        "D -> r6 -> D",
        "E",
    ]
    assert toy.text(paths[1]) == "C -> r2_reverse -> B" and toy.texts(()) == []
    assert (
        toy.triple_texts([5, 0]) == ["D -> r6 -> D", "A -> r0 -> B"] and toy.triple_texts([]) == []
    )


def test_an_unknown_direction_is_refused(toy):
    with pytest.raises(BadParameter, match="not “up”"):
        toy.steps(0, "up")


def test_the_shape_of_five_nodes(toy):
    # A: 2 out, 2 in; B: 1, 1; C: 2, 2; D: the loop twice and an edge of C; E: 1 out.
    shape = toy.shape()
    assert dict(zip(shape.degrees.tolist(), shape.node_counts.tolist())) == {1: 1, 2: 1, 3: 1, 4: 2}
    assert (
        shape.busiest == (0, 2, 3, 1, 4)
        and shape.n_loops == 1
        and shape.relation_counts.tolist() == [1] * 7
    )

"""The cost of more triples and of fewer to walks, by hand on a chain.

It counts the nodes whose walks come past these triples, and no others.
"""

from __future__ import annotations

import numpy as np

from core.evaluation.papers.walk_updates import measure_updates
from core.graph.algorithms.walk_corpus import WalkPlan
from tests.films import Bag


def test_the_walks_that_come_past_a_triple_are_encoded_anew(tmp_path):
    pairs = [(f"n{i:02}", "next", f"n{i + 1:02}") for i in range(20)]
    plan = WalkPlan("breadth-first", 0, 2, "out")
    first, others = measure_updates(
        pairs, tmp_path / "chain", Bag(), plan, (1, 4), np.random.default_rng(0)
    )
    drawn = np.random.default_rng(0).permutation(20)
    ahead, rest = set(drawn[:4].tolist()), set(drawn[4:].tolist())
    # each head of a triple has walks
    assert (first.triples, first.encoded, first.nodes) == (16, 16, 16)

    def texts(there):  # triple i leads from node i, and on along triple i + 1
        return {i: (i, i + 1 in there) for i in there}

    def anew(there):
        before = texts(rest)
        return sum(before.get(node) != text for node, text in texts(there).items())

    order = [int(i) for i in drawn[4:]]
    contents = [rest | {int(drawn[0])}, rest | ahead, set(order[1:]), set(order[4:])]
    assert [one.triples for one in others] == [1, 4, -1, -4]
    assert [one.encoded for one in others] == [anew(there) for there in contents]
    assert [one.nodes for one in others] == [len(there) for there in contents]

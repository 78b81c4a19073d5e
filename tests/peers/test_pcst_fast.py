"""pcst_fast compared with Hopscope's prize-collecting tree."""

from __future__ import annotations

import numpy as np
import pytest

from core.graph.algorithms.steiner import prize_collecting_tree
from tests.peers.compared import cases

CASES = cases("pcst_fast")


@pytest.mark.parametrize("number", range(len(CASES)))
def test_tree_equals_the_recorded_one(number):
    case = CASES[number]
    heads, tails = np.array(case["edges"], np.int64).T
    nodes, edges = prize_collecting_tree(
        len(case["prizes"]),
        heads,
        tails,
        np.array(case["costs"]),
        np.array(case["prizes"]),
    )
    assert [sorted(map(int, nodes)), sorted(map(int, edges))] == case["tree"]

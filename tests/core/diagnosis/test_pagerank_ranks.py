"""The place of a node beyond those that PageRank keeps.

On the five films nodes the order from One is known by hand.
"""

import numpy as np
import pytest

from core.diagnosis import pagerank_ranks as leftout
from core.diagnosis.pagerank_ranks import rank_beyond_cut
from core.environment import Environment
from core.operators import EgoNetwork, PersonalizedPageRank
from core.operators.base import Context
from core.types import Question, State

# One gives half of what it passes on to Ann and half to Drama; Ann also gets back two thirds of what Two passes on, 1999 a third
ORDER = ["One", "Ann", "Drama", "Two", "1999"]


@pytest.mark.parametrize("keep", [1, 2, 3, 4])
@pytest.mark.parametrize("method", ["auto", "push", "exact"])
def test_places_go_on_where_keep_ended(kit, keep, method):
    state = PersonalizedPageRank(keep=keep, damping=0.5, method=method)(
        kit.state("One"), kit.context()
    )
    assert kit.graph.names(state.subgraph.nodes) == sorted(ORDER[:keep], key=kit.node)
    for place, name in enumerate(ORDER, 1):
        assert rank_beyond_cut(kit.graph, state, (kit.node(name),)) == (
            place if place > keep else None
        )
    rest = [kit.node(name) for name in ORDER[keep:]]
    assert rank_beyond_cut(kit.graph, state, rest) == keep + 1


def test_what_is_not_known_is_not_told(kit, monkeypatch):
    two = (kit.node("Two"),)
    near = EgoNetwork(hops=1)(kit.state("One"), kit.context())
    by_chance = PersonalizedPageRank(keep=3, method="fora")(kit.state("One"), kit.context())
    # no edge leads to Two
    unreached = PersonalizedPageRank(keep=3, direction="out")(kit.state("One"), kit.context())
    assert [rank_beyond_cut(kit.graph, state, two) for state in (near, by_chance, unreached)] == [
        None
    ] * 3
    state = PersonalizedPageRank(keep=3, damping=0.5)(kit.state("One"), kit.context())
    assert rank_beyond_cut(kit.graph, state, two) == 4
    monkeypatch.setattr(leftout, "MAX_RANKED_EDGES", kit.graph.n_edges - 1)
    assert rank_beyond_cut(kit.graph, state, two) is None


def test_the_second_node_of_a_question_computes_nothing_anew(movies):
    seed = movies.nodes_named("Woody Allen")[0]
    state = PersonalizedPageRank(keep=1000)(
        State(Question("q"), (seed,)), Context(movies, Environment(None))
    )
    out = np.setdiff1d(np.arange(movies.n_nodes), state.subgraph.nodes)[:2]
    leftout._node_ranks.cache_clear()
    for node in out:
        rank_beyond_cut(movies, state, (int(node),))
    assert leftout._node_ranks.cache_info().misses == 1

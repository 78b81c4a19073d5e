"""The Steiner tree against recorded and hand-computed results, and chains of entities."""

import itertools

import numpy as np
import pytest

from core.environment import Environment
from core.graph.algorithms.steiner import prize_collecting_tree
from core.graph.building.build import build_in_memory
from core.operators import OPERATORS
from core.operators.base import Context
from core.types import Question, Ranking, State
from tests.core.operators.texts.test_neighbours_and_scores import at, step
from tests.films import Written


def test_tree_of_a_recorded_path():
    """Recorded from pcst_fast 1.0.10 under numpy 1.26.4, unrooted, one cluster, pruning gw.

    The path is 0-1-2-3, the prizes are 3 0 2 0, and the costs .5.
    """
    heads, tails = np.array([0, 1, 2]), np.array([1, 2, 3])
    assert prize_collecting_tree(4, heads, tails, np.full(3, 0.5), np.array([3.0, 0, 2, 0])) == (
        [0, 1, 2],
        [0, 1],
    )


def test_prize_below_its_cost_is_left():
    # 1 has prize 1, and its edge costs 3; 0 has the larger prize.
    assert prize_collecting_tree(
        2, np.array([0]), np.array([1]), np.array([3.0]), np.array([2.0, 1.0])
    ) == ([0], [])


def test_no_prize_gives_no_tree():
    assert prize_collecting_tree(2, np.array([0]), np.array([1]), np.array([1.0]), np.zeros(2)) == (
        [],
        [],
    )


@pytest.mark.parametrize("seed", range(40))
def test_tree_is_at_most_twice_as_bad_as_the_best(seed):
    """Its cost plus missed prizes, against every connected part of a random graph of six nodes."""
    rng = np.random.default_rng(seed)
    pairs = [pair for pair in itertools.combinations(range(6), 2) if rng.random() < 0.6]
    heads, tails = np.array([a for a, _ in pairs], int), np.array([b for _, b in pairs], int)
    costs, prizes = rng.random(len(pairs)) + 0.1, rng.random(6) * (rng.random(6) < 0.6) * 2
    nodes, edges = prize_collecting_tree(6, heads, tails, costs, prizes)
    if not nodes:
        assert not prizes.any()
        return
    assert len(edges) == len(nodes) - 1 and {
        int(end) for edge in edges for end in (heads[edge], tails[edge])
    } <= set(nodes)
    found = costs[edges].sum() + prizes.sum() - prizes[nodes].sum()
    best = min(
        prizes.sum() - prizes[list(part)].sum() + cost for part, cost in _trees(heads, tails, costs)
    )
    assert found <= 2 * best + 1e-9


def _trees(heads, tails, costs):
    """Every connected set of nodes with the cost of its cheapest spanning tree."""
    order = np.argsort(costs)
    for size in range(1, 7):
        for part in itertools.combinations(range(6), size):
            of, cost = {node: node for node in part}, 0.0
            for edge in order:
                a, b = int(heads[edge]), int(tails[edge])
                if a in of and b in of and of[a] != of[b]:
                    cost, old, new = cost + costs[edge], of[a], of[b]
                    of = {node: new if label == old else label for node, label in of.items()}
            if len(set(of.values())) == 1:
                yield part, cost


def test_tree_joins_the_hits(told):
    after = step(told, "SteinerSubgraph", at(told, Tim=0.9, Marley=0.8))
    # The prizes are 3 and 2, with three edges of cost one half between them: Tim - Cratchit -
    # Scrooge - Marley.
    assert (
        told.names(after) == ["Tim", "Marley", "Cratchit", "Scrooge"] and len(after.relations) == 3
    )


def test_edges_with_prizes_above_their_cost_are_chosen(told):
    # nephew of and partner of have prizes 2 and 1.
    relations = Ranking("triple", (1, 2), (0.9, 0.5))
    state = at(told, Tim=0.9).replace(relations=relations)
    after = step(told, "SteinerSubgraph", state, relations=2)
    assert {"Fred -> nephew of -> Scrooge", "Scrooge -> partner of -> Marley"} <= set(
        told.triples(after)
    )
    assert (
        dict(zip(told.triples(after), after.relations.scores))["Fred -> nephew of -> Scrooge"]
        == 2.0
    )


def test_equal_relations_share_a_prize(told):
    from core.operators import SteinerSubgraph

    prizes, cost = SteinerSubgraph(relations=2)._edge_prizes(
        Ranking("triple", (1, 2, 3), (0.9, 0.5, 0.5))
    )
    assert prizes == {1: 2.0, 2: 0.5, 3: 0.5} and cost == 0.5
    prizes, cost = SteinerSubgraph(relations=3, cost=5.0)._edge_prizes(
        Ranking("triple", (1, 2), (0.9, 0.5))
    )
    assert prizes == {1: 2.0, 2: 1.0} and cost == pytest.approx(2.0 * 0.995)
    prizes, _ = SteinerSubgraph(relations=2)._edge_prizes(
        Ranking("triple", (1, 2, 3, 0), (0.9, 0.9, 0.9, 0.5))
    )
    # Each prize is at most 0.99 of the one before.
    assert prizes[1] == pytest.approx(2 / 3) and prizes[0] == pytest.approx(2 / 3 * 0.99)


def test_chains_lead_from_one_entity_to_the_nearest_next(told):
    # The entities are Marley, Tim and Cratchit.
    state = State(Question("q"), linked=Ranking("node", (2, 4, 0), (1.0, 0.9, 0.8)))
    (chain,) = step(told, "KhopPaths", state, reading="code").paths.items
    # From Marley, Cratchit is two steps away and Tim three; from Cratchit, Tim is one.
    assert told.graph.text(chain) == (
        "Marley -> partner of_reverse -> Scrooge -> works for_reverse -> Cratchit -> son "
        "of_reverse -> Tim"
    )


def test_unreachable_entities_begin_a_new_chain(told):
    # The entities are Marley, Scrooge and Tim.
    state = State(Question("q"), linked=Ranking("node", (2, 3, 4), (1.0, 0.9, 0.8)))
    after = step(told, "KhopPaths", state, hops=1, reading="code")
    assert told.graph.texts(after.paths.items) == ["Marley -> partner of_reverse -> Scrooge"]
    assert step(told, "KhopPaths", state, hops=2, reading="code").paths.items[0].end == 4


def paths_between(triples, linked, **settings):
    """The names along each path of KhopPaths on a graph of these links, from these entities."""
    graph = build_in_memory([(one, "to", other) for one, other in triples], "five")
    nodes = tuple(graph.nodes_named(name)[0] for name in linked)
    state = State(Question("q"), linked=Ranking("node", nodes, (1.0,) * len(nodes)))
    after = OPERATORS["KhopPaths"](**settings)(state, Context(graph, Environment(Written())))
    return ["".join(graph.names(path.nodes)) for path in after.paths.items]


@pytest.mark.parametrize(
    ("triples", "linked", "paper", "code"),
    [
        # Section 6.1: the entities of a path are removed once it is found. C then has no partner.
        (("AB", "AC"), "ABC", ["AB"], ["ABAC"]),
        # A and B are joined, then C and D, though B and C are only two steps apart.
        (("AB", "CD", "Bx", "xC"), "ABCD", ["AB", "CD"], ["ABxCD"]),
        # C is joined with D through A and B, whose own path is part of that one: both are merged.
        (("AB", "CA", "BD"), "ABCD", ["CABD"], ["ABDBAC"]),
        (("AB", "xC"), "AC", [], []),
    ],
)
def test_paths_by_the_paper_and_by_dalks_code(triples, linked, paper, code):
    assert paths_between(triples, linked) == paper
    assert paths_between(triples, linked, reading="code") == code

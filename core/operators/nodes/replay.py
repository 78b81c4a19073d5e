"""FastInsight's loop (STeX and GRanker) run again with other settings, without any model.

It uses the hidden states that the original run stored.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from core.graph.algorithms.simple_graph import SimpleGraph
from core.operators.nodes.expansion import Similarity, best_neighbours
from core.operators.nodes.smoothing import smoothed_order
from core.types import Frame, HiddenStates, Ranking


@dataclass(frozen=True, eq=False)
class LoopReplay:
    """Result of a replayed loop.

    Attributes
    ----------
    nodes : the nodes, best first.
    round_by_node : for each node, the round in which it was added; 0 for the start.
    unavailable_count : number of neighbours that the loop would have added, but that the original
        run did not read.
    """

    nodes: Ranking
    round_by_node: dict[int, int]
    unavailable_count: int


def replay_loop(
    hidden: HiddenStates,
    start: tuple[int, ...],
    links: SimpleGraph,
    similarity: Similarity,
    alpha: float = 0.2,
    beta: float = 1.0,
    batch: int = 10,
    budget: int = 100,
) -> LoopReplay:
    """Run FastInsight's loop from the nodes `start` on the nodes that were read.

    With the settings of the original run the result is the same. With other settings the loop may
    need nodes that were not read. These are skipped and counted.

    Parameters
    ----------
    hidden : hidden states of the nodes that were read.
    start : the nodes that the loop starts with.
    links : the graph as an undirected simple graph.
    similarity : returns the similarity of nodes to the question.
    alpha : share of the neighbours in smoothed states (GRanker).
    beta : weight of structure (STeX).
    batch : nodes added in a round.
    budget : number of nodes at which the loop ends.

    Examples
    --------
    >>> from core.graph.algorithms.simple_graph import simple_graph
    >>> from core.models.heads import Head
    >>> from core.operators.nodes.replay import replay_loop
    >>> from core.types import HiddenStates
    >>> hidden = HiddenStates("reranker", (0, 1, 2), np.array([[0.5], [0.1], [0.9]]), Head())
    >>> alike = lambda nodes: np.zeros(len(nodes))
    >>> replay = replay_loop(hidden, (0,), simple_graph(toy), alike, alpha=0.0, batch=2, budget=4)
    >>> # A, then B and C; D and E were never read
    >>> toy.names(replay.nodes.items), replay.round_by_node, replay.unavailable_count
    (['C', 'A', 'B'], {0: 0, 1: 1, 2: 1}, 2)
    """
    read_nodes = frozenset(hidden.nodes)
    nodes = smoothed_order(
        hidden, tuple(node for node in start if node in read_nodes), links, alpha
    )
    round_of_node = dict.fromkeys(nodes.items, 0)
    skipped: set[int] = set()
    for number in itertools.count(1):
        if not 0 < len(nodes) < budget:
            break
        order, _ = best_neighbours(nodes.items, links, similarity, beta)
        added: list[int] = []
        for node in order.items:
            if len(added) == min(batch, budget - len(nodes)):
                break
            if node in read_nodes:
                added.append(node)
            else:
                skipped.add(node)
        if not added:
            break
        round_of_node |= dict.fromkeys(added, number)
        nodes = smoothed_order(hidden, (*nodes.items, *added), links, alpha)
    return LoopReplay(nodes, round_of_node, len(skipped))


def node_origins(
    links: SimpleGraph, frames: tuple[Frame, ...]
) -> dict[int, tuple[int, int | None, float | None]]:
    """Return when and by which neighbour a loop added each node.

    Parameters
    ----------
    links : the graph as an undirected simple graph.
    frames : the recorded rankings of the loop, the start first.

    Returns
    -------
    For each node the round (0 for the start), the best ranked node that it is linked to (None if
    there is none, as at the start), and its score when it was added (None without scores).
    """
    origins: dict[int, tuple[int, int | None, float | None]] = {}
    order: tuple[int, ...] = ()
    number = 0
    for index, frame in enumerate(frames):
        ranking = frame.ranking
        new_nodes = [node for node in ranking.items if node not in origins]
        if new_nodes and index:
            number += 1
        for node in new_nodes:
            neighbours = set(links.neighbours(node).tolist())
            source_node = next((other for other in order if other in neighbours), None)
            score = ranking.score(ranking.positions[node]) if ranking.scores else None
            origins[node] = (number, source_node, score)
        # a frame has all nodes, which are then in a new order, or only the added ones
        order = ranking.items if len(ranking) == len(origins) else (*order, *new_nodes)
    return origins

"""FastInsight's loop with other settings, on hidden states that are known.

No model reads anything.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.graph.algorithms.simple_graph import SimpleGraph
from core.operators.nodes.expansion import NodeSimilarity, structure_scores
from core.operators.nodes.smoothing import smoothed_order
from core.operators.texts.hits import best_hits
from core.types import Frame, HiddenStates, Ranking


@dataclass(frozen=True, eq=False)
class LoopReplay:
    """Result of a replayed loop.

    Attributes
    ----------
    nodes : the nodes in their order.
    came : for each node, the round in which it was added; 0 for the start.
    not_ranked : number of neighbours that the loop would have added, but that were not read when
        the question was asked.
    """

    nodes: Ranking
    came: dict[int, int]
    not_ranked: int


def replay_loop(
    hidden: HiddenStates,
    start: tuple[int, ...],
    links: SimpleGraph,
    similar: NodeSimilarity,
    alpha: float = 0.2,
    beta: float = 1.0,
    batch: int = 10,
    budget: int = 100,
) -> LoopReplay:
    """Run FastInsight's loop from the nodes `start` on the nodes that were read.

    With the settings of the original run the result is the same. Other settings may need nodes that
    were not read; these are skipped and counted.

    Parameters
    ----------
    hidden : hidden states of the nodes that were read.
    start : the nodes that the loop starts with.
    links : the graph as an undirected simple graph.
    similar : returns the similarity of nodes to the question.
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
    >>> found = replay_loop(hidden, (0,), simple_graph(toy), alike, alpha=0.0, batch=2, budget=4)
    >>> # A, then B and C; D and E were never read
    >>> toy.names(found.nodes.items), found.came, found.not_ranked
    (['C', 'A', 'B'], {0: 0, 1: 1, 2: 1}, 2)
    """
    read_nodes = frozenset(hidden.nodes)
    nodes = smoothed_order(
        hidden, tuple(node for node in start if node in read_nodes), links, alpha
    )
    round_of_node, skipped, number = dict.fromkeys(nodes.items, 0), set[int](), 0
    while 0 < len(nodes) < budget:
        number += 1
        fresh, structure = structure_scores(np.array(nodes.items, np.int64), links)
        order = best_hits("node", fresh, similar(fresh) + beta * structure).items
        added, not_read = _read_nodes(order, read_nodes, min(batch, budget - len(nodes)))
        skipped |= not_read
        if not added:
            break
        round_of_node |= dict.fromkeys(added, number)
        nodes = smoothed_order(hidden, (*nodes.items, *added), links, alpha)
    return LoopReplay(nodes, round_of_node, len(skipped))


def _read_nodes(
    order: tuple[int, ...], available: frozenset[int], room: int
) -> tuple[list[int], set[int]]:
    """Return the first `room` read nodes, and the unread nodes before their last."""
    added: list[int] = []
    skipped: set[int] = set()
    for node in order:
        if len(added) == room:
            break
        if node in available:
            added.append(node)
        else:
            skipped.add(node)
    return added, skipped


def node_origins(
    links: SimpleGraph, frames: tuple[Frame, ...]
) -> dict[int, tuple[int, int | None, float | None]]:
    """Return for each node of a loop's frames how it was added.

    Returns
    -------
    For each node the round (0 for the start), the best ranked node that it is linked to (None for
    the start), and the score by which it was chosen.
    """
    origins: dict[int, tuple[int, int | None, float | None]] = {}
    order: tuple[int, ...] = ()
    number = 0
    for index, frame in enumerate(frames):
        fresh = [node for node in frame.ranking.items if node not in origins]
        number += bool(fresh) and index > 0
        for node in fresh:
            neighbours = set(links.of(node).tolist())
            source_node = next((one for one in order if one in neighbours), None) if index else None
            origins[node] = (
                number,
                source_node,
                frame.ranking.scores[frame.ranking.positions[node]]
                if frame.ranking.scores
                else None,
            )
        order = frame.ranking.items if len(frame.ranking) == len(origins) else (*order, *fresh)
    return origins

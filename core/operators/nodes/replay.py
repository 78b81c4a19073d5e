"""FastInsight's loop again with other settings, on hidden states that are known: nothing is read anew."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.graph.algorithms.simple import Simple
from core.operators.nodes.expansion import Similar, structures
from core.operators.nodes.smoothing import smoothed_order
from core.operators.texts.hits import ranked
from core.types import Frame, HiddenStates, Ranking


@dataclass(frozen=True, eq=False)
class Replay:
    """What the loop finds: the nodes in their order, `came` with the round in which each was added (0 for the start), and `not_ranked`, how
    many neighbours it would have added but that were not read when the question was asked."""

    nodes: Ranking
    came: dict[int, int]
    not_ranked: int


def replayed(
    hidden: HiddenStates,
    start: tuple[int, ...],
    links: Simple,
    similar: Similar,
    alpha: float = 0.2,
    beta: float = 1.0,
    batch: int = 10,
    budget: int = 100,
) -> Replay:
    """FastInsight from the nodes `start` with these settings, on the nodes that were read; no model reads anything.

    With the settings that the question was asked with it finds what was found then. With others it may want nodes that were not read: they
    are passed over and counted.

    >>> from core.graph.algorithms.simple import simple
    >>> from core.models.heads import Head
    >>> from core.operators.nodes.replay import replayed
    >>> from core.types import HiddenStates
    >>> hidden = HiddenStates("reranker", (0, 1, 2), np.array([[0.5], [0.1], [0.9]]), Head())
    >>> found = replayed(hidden, (0,), simple(toy), lambda nodes: np.zeros(len(nodes)), alpha=0.0, batch=2, budget=4)
    >>> toy.names(found.nodes.items), found.came, found.not_ranked  # A, then B and C; D and E were never read
    (['C', 'A', 'B'], {0: 0, 1: 1, 2: 1}, 2)
    """
    known = frozenset(hidden.nodes)
    nodes = smoothed_order(hidden, tuple(node for node in start if node in known), links, alpha)
    came, passed, number = dict.fromkeys(nodes.items, 0), set[int](), 0
    while 0 < len(nodes) < budget:
        number += 1
        fresh, structure = structures(np.array(nodes.items, np.int64), links)
        order = ranked("node", fresh, similar(fresh) + beta * structure).items
        added, left = _read(order, known, min(batch, budget - len(nodes)))
        passed |= left
        if not added:
            break
        came |= dict.fromkeys(added, number)
        nodes = smoothed_order(hidden, (*nodes.items, *added), links, alpha)
    return Replay(nodes, came, len(passed))


def _read(order: tuple[int, ...], known: frozenset[int], room: int) -> tuple[list[int], set[int]]:
    """The first nodes that were read, as many as have room, and those before the last of them that were not."""
    added: list[int] = []
    passed: set[int] = set()
    for node in order:
        if len(added) == room:
            break
        if node in known:
            added.append(node)
        else:
            passed.add(node)
    return added, passed


def brought_by(
    links: Simple, frames: tuple[Frame, ...]
) -> dict[int, tuple[int, int | None, float | None]]:
    """For each node of a loop's frames the round in which it came (0 for the start), the best ranked node that it lies beside (None for the
    start), and the score that it was chosen by."""
    found: dict[int, tuple[int, int | None, float | None]] = {}
    order: tuple[int, ...] = ()
    number = 0
    for place, frame in enumerate(frames):
        fresh = [node for node in frame.ranking.items if node not in found]
        number += bool(fresh) and place > 0
        for node in fresh:
            near = set(links.of(node).tolist())
            by = next((one for one in order if one in near), None) if place else None
            found[node] = (
                number,
                by,
                frame.ranking.scores[frame.ranking.positions[node]]
                if frame.ranking.scores
                else None,
            )
        order = frame.ranking.items if len(frame.ranking) == len(found) else (*order, *fresh)
    return found

"""Walks through a graph whose arrays do not lie here: level by level, each level one question to the store.

The same results as the compiled loops of `traversal` give, node for node; PageRank is the same to its accuracy.
"""

from __future__ import annotations

import numpy as np

from core.graph.order import steady, top_k
from core.graph.protocol import KnowledgeGraph
from core.watch import NO_WATCH, Watch

FIRST, TIGHTER, FINEST = (
    1e-5,
    4.0,
    1e-12,
)  # the bar of the first pushes, its divisor from one to the next, the last bar
AGREE = 0.95  # of the best nodes must be the same at two bars in a row
MOST_READ = 60_000  # nodes whose steps a PageRank reads
CONSIDERED, PART = (
    3,
    0.8,
)  # nodes for each to keep that are computed once more, and the part of a residual that counts there
AGAINST = {"out": "in", "in": "out", "both": "both"}


def nearest(
    graph: KnowledgeGraph,
    seeds: np.ndarray,
    hops: int,
    direction: str,
    keep: int,
    watch: Watch = NO_WATCH,
) -> tuple[np.ndarray, np.ndarray]:
    """As `neighbourhood.nearest`, for distinct seeds, ascending."""
    levels = [seeds[:keep]]
    seen, room = np.unique(seeds), keep - len(levels[0])
    while len(levels) <= hops and room and len(levels[-1]):
        watch.check()
        fresh = np.setdiff1d(graph.steps_from(levels[-1], direction).nodes, seen)
        seen = np.union1d(seen, fresh)
        levels.append(fresh[:room])
        room -= len(levels[-1])
    return np.concatenate(levels), np.repeat(
        np.arange(len(levels)), [len(level) for level in levels]
    )


def induced(graph: KnowledgeGraph, nodes: np.ndarray) -> np.ndarray:
    """As `neighbourhood.induced`, for distinct nodes, ascending."""
    steps = graph.steps_from(nodes, "out")
    return np.sort(steps.edges[np.isin(steps.nodes, nodes)])


def walk(
    graph: KnowledgeGraph, start: int, chances: np.ndarray, restart: float, direction: str
) -> np.ndarray:
    """The nodes [walks, steps + 1] that walks from `start` visit, -1 after an end; all take each step together.

    `chances` [walks, steps, 2] as the compiled walk draws them.
    """
    visited = np.full((chances.shape[0], chances.shape[1] + 1), -1, np.int64)
    visited[:, 0] = start
    for step in range(chances.shape[1]):
        going = np.flatnonzero(visited[:, step] >= 0)
        nodes, place = np.unique(visited[going, step], return_inverse=True)
        steps = graph.steps_from(nodes, direction)
        order = np.argsort(
            steps.rows, kind="stable"
        )  # within a node, those along triples stay first
        starts = np.searchsorted(steps.rows[order], np.arange(len(nodes) + 1))
        degree = np.diff(starts)[place]
        back = (restart > 0) & ((degree == 0) | (chances[going, step, 0] < restart))
        on = ~back & (degree > 0)
        pick = np.minimum(degree - 1, (chances[going, step, 1] * degree).astype(np.int64))
        visited[going[back], step + 1] = start
        visited[going[on], step + 1] = steps.nodes[order[starts[place[on]] + pick[on]]]
    return visited


def top_pagerank(
    graph: KnowledgeGraph,
    seeds: np.ndarray,
    keep: int,
    damping: float,
    direction: str,
    watch: Watch = NO_WATCH,
) -> tuple[np.ndarray, np.ndarray, int, bool, str]:
    """The `keep` nodes of highest personalised PageRank by forward push in rounds: (ids, scores, steps read, whether they
    settled, a sentence that says so), best first.

    In a round every node whose residual is above the bar times its degree is pushed, and the steps of those not read before
    are asked for at once. The bar falls until the best nodes stay the same, nothing is left, or `MOST_READ` nodes were read.
    The best are found by estimate + (1 - damping) x residual, and ranked by computing each once more from its neighbours.
    """
    push = _Push(graph, seeds, damping, direction)
    push.round(np.unique(seeds))
    bar, before = FIRST, None
    while True:
        while len(over := push.above(bar)) and push.read < MOST_READ:
            watch.check()
            push.round(over)
        nodes, scores = push.best(keep)
        same = before is not None and len(nodes) >= keep and np.isin(nodes, before).mean() >= AGREE
        if same or bar <= FINEST or push.read >= MOST_READ or push.left() < 1e-12:
            settled = push.read < MOST_READ
            note = f"Push in rounds: the steps of {push.read:,} nodes were read, " + (
                "until the best stayed the same." if settled else "the most there may be."
            )
            return nodes, scores, sum(map(len, push.near.values())), settled, note
        bar, before = bar / TIGHTER, nodes


class _Push:
    """A push in progress. Nodes get places as they are met; `estimate` is what a place has for sure, `residual` what flows on."""

    def __init__(self, graph: KnowledgeGraph, seeds: np.ndarray, damping: float, direction: str):
        self.graph, self.damping, self.direction, self.seeds = graph, damping, direction, seeds
        self.nodes, self.sorted = (
            np.empty(0, np.int64),
            np.empty(0, np.int64),
        )  # by place; places by node
        self.estimate, self.residual, self.degree = np.empty(0), np.empty(0), np.empty(0)
        self.near: dict[
            int, np.ndarray
        ] = {}  # of each place that was read, the places its steps lead to
        self.start = self.places(seeds)
        np.add.at(self.residual, self.start, 1.0 / len(seeds))

    @property
    def read(self) -> int:
        return len(self.near)

    def places(self, nodes: np.ndarray) -> np.ndarray:
        """The places of nodes; those met for the first time get the next ones."""
        ids = np.unique(nodes)
        fresh = ids[~np.isin(ids, self.nodes[self.sorted], assume_unique=True)]
        if len(fresh):
            grown = lambda values, new: np.concatenate([values, new])
            self.nodes = grown(self.nodes, fresh)
            self.estimate, self.residual = (
                grown(values, np.zeros(len(fresh))) for values in (self.estimate, self.residual)
            )
            self.degree = grown(
                self.degree, self.graph.degrees(fresh, self.direction).astype(float)
            )
            self.sorted = np.argsort(self.nodes, kind="stable")
        return self.sorted[np.searchsorted(self.nodes, nodes, sorter=self.sorted)]

    def above(self, bar: float) -> np.ndarray:
        """The nodes whose residual is above the bar times their degree, ascending; the highest above it where not all may be read."""
        height = self.residual / np.maximum(self.degree, 1.0)
        over = np.flatnonzero(height > bar)
        room = MOST_READ - self.read
        if len(over) > room:
            over = top_k(over, height[over], room)[0]
        return np.sort(self.nodes[over])

    def left(self) -> float:
        return float(self.residual.sum())

    def round(self, nodes: np.ndarray) -> None:
        """Pushes these nodes once, all at a time."""
        places = self.places(nodes)
        new = [place for place in places.tolist() if place not in self.near]
        if new:
            steps = self.graph.steps_from(self.nodes[new], self.direction)
            ends = self.places(steps.nodes)
            order = np.argsort(steps.rows, kind="stable")
            cuts = np.searchsorted(steps.rows[order], np.arange(1, len(new)))
            self.near |= zip(new, np.split(ends[order], cuts))
        flow = self.residual[places]
        self.residual[places] = 0.0
        self.estimate[places] += (1.0 - self.damping) * flow
        for place, mass in zip(places.tolist(), (self.damping * flow).tolist()):
            near = (
                self.near[place] if len(self.near[place]) else self.start
            )  # from a node without steps, back to the seeds
            np.add.at(self.residual, near, mass / len(near))

    def best(self, keep: int) -> tuple[np.ndarray, np.ndarray]:
        """The best nodes and their scores, by the equation from what is known of all: (ids, scores)."""
        held = (self.estimate > 0) | (self.residual > 0)
        scores = steady(self.estimate[held] + (1.0 - self.damping) * self.residual[held])
        likely = np.sort(top_k(self.nodes[held], scores, CONSIDERED * keep)[0])
        steps = self.graph.steps_from(likely, AGAINST[self.graph.resolve(self.direction)])
        at = np.minimum(
            np.searchsorted(self.nodes, steps.nodes, sorter=self.sorted), len(self.nodes) - 1
        )
        near = self.sorted[at]
        known = self.nodes[near] == steps.nodes
        rows, near = steps.rows[known], near[known]
        mass = self.estimate + PART * self.residual
        scores = self.damping * np.bincount(rows, mass[near] / self.degree[near], len(likely))
        returned = (
            1.0 - self.damping + self.damping * mass[self.degree == 0].sum()
        )  # the restarts, and what nodes without steps return
        np.add.at(scores, np.searchsorted(likely, self.seeds), returned / len(self.seeds))
        nodes, best = top_k(likely, steady(scores), keep)
        return nodes, best

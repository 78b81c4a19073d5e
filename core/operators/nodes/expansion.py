"""FastInsight's STeX: the retrieved nodes expanded by structurally and semantically near ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from core.graph.algorithms.simple_graph import SimpleGraph, simple_graph
from core.graph.protocol import KnowledgeGraph
from core.indexes.vectors import VectorIndex, vector_index
from core.operators.base import Context, Operator, Recorder
from core.operators.texts.hits import MAX_HITS_BEFORE_CUT, best_hits, best_names
from core.parameters import param
from core.types import Ranking, State

BACKFILL_CHOICES = ("none", "vector")
# Returns the similarity of some nodes, given by id, to the question: float64 [n].
Similarity = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, repr=False)
class ExpandNodes(Operator):
    """The retrieved nodes, followed by up to `keep` of their neighbours.

    Neighbours are chosen by structure and by similarity to the question.

    FastInsight, STeX (algorithm 3): score = v_q . v_n + beta * structure. Structure is the sum of
    two parts in [0, 1]. N is the number of retrieved nodes. The first part is 1 - (r - 1) / (N - 1),
    where r is the best rank of a retrieved node that the neighbour is linked to. The second is
    (a - 1) / (min(degree, N) - 1), where a is the number of retrieved nodes that it is linked to. A
    part with the divisor 0 counts 0. With `beta` 1 structure weighs more than the cosine of most
    encoders. Ties are broken by id.

    If no neighbour is left, as in a component smaller than the budget, nothing is added. With
    `backfill` "vector" the nodes nearest to the question are added then.

    >>> line = "SparseNodes(keep=1) >> EmbedQuery() >> ExpandNodes(keep=2)"
    >>> state = retrieve(
    ...     line, graph=story, question="lonely Scrooge partner firm", models=scores({})
    ... )
    >>> story.names(state.nodes.items)
    ['Scrooge', 'Cratchit', 'Fred']
    """

    stage = "retrieve"
    title = "neighbours by place and meaning"
    plain = "adds {keep} neighbours"
    reads, writes = ("nodes", "vector"), ("nodes",)

    keep: int = param(
        10, "Nodes more", "How many are added at most; BATCH in the paper.", low=1, high=10_000
    )
    beta: float = param(
        1.0,
        "Structure (beta)",
        "The weight of structure against likeness, which counts once.",
        low=0,
        high=100,
    )
    backfill: str = param(
        "none",
        "Without neighbours",
        "What is added where no neighbour is left.",
        choices=BACKFILL_CHOICES,
    )
    encoder: str = param(
        "encoder", "Encoder", "The sentence encoder; the one that read the question.", model=True
    )

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        nodes = state.nodes.items if state.nodes else ()
        assert state.vector is not None
        if not ctx.graph.n_nodes:
            return state.replace(nodes=Ranking("node", (), ()))
        index = vector_index(ctx.graph, ctx.models.encoder(self.encoder), "nodes", ctx.watch)
        ctx.watch.report("Looking at neighbours")
        order, total = best_neighbours(
            nodes,
            simple_graph(ctx.graph),
            cached_similarity(ctx.graph, index, state.vector),
            self.beta,
            MAX_HITS_BEFORE_CUT,
        )
        added = order.head(self.keep)
        if not len(added) and self.backfill == "vector":
            order = added = self._nearest(state, index)
        recorder.before_cut = order
        recorder.notes.append(lambda: _expansion_note(ctx.graph, added, total))
        scores = state.nodes.scores or () if state.nodes else ()
        all_scores = None
        if len(scores) == len(nodes):
            # a neighbour ranks after the retrieved nodes, so it has their lowest score
            all_scores = (*scores, *[min(scores, default=0.0)] * len(added))
        return state.replace(nodes=Ranking("node", (*nodes, *added.items), all_scores))

    def _nearest(self, state: State, index: VectorIndex) -> Ranking:
        """Return the `keep` nodes nearest to the question that are not retrieved yet."""
        assert state.vector is not None
        retrieved = set(state.nodes.items if state.nodes else ())
        # so many that `keep` remain even if all retrieved nodes are among them
        ids, scores = index.nearest(state.vector, min(len(index), len(retrieved) + self.keep))
        rows = [row for row, node in enumerate(ids.tolist()) if node not in retrieved]
        return best_hits("node", ids[rows], scores[rows], self.keep)

    def words(self) -> str:
        return f"{self.keep} neighbours more, beta {self.beta:g}"


def _expansion_note(graph: KnowledgeGraph, new_nodes: Ranking, total: int) -> str:
    if len(new_nodes):
        return f"Of {max(total, len(new_nodes)):,} neighbours: {best_names(graph, new_nodes)}."
    return "No neighbour is left."


class SimilarityCache:
    """Similarity function that remembers the similarities of the nodes it was called with.

    A similarity is the dot product of the vectors of question and node. It agrees with the score of
    a vector search to six digits.
    """

    def __init__(self, index: VectorIndex, vector: np.ndarray):
        self._index = index
        self._vector = vector
        self._similarities = np.full(len(index), np.nan)  # NaN until computed

    def __call__(self, nodes: np.ndarray) -> np.ndarray:
        missing = nodes[np.isnan(self._similarities[nodes])]
        if len(missing):
            self._similarities[missing] = self._index.cosines(self._vector, missing)
        return self._similarities[nodes]


def cached_similarity(graph: KnowledgeGraph, index: VectorIndex, vector: np.ndarray) -> Similarity:
    """Return the similarity function of a question.

    It is the same one in each round of a loop.
    """
    return graph.derived.get_or_make(
        "likeness", (id(index), vector.tobytes()), lambda: SimilarityCache(index, vector)
    )


def best_neighbours(
    nodes: tuple[int, ...], links: SimpleGraph, similarity: Similarity, beta: float, keep: int = 0
) -> tuple[Ranking, int]:
    """Return the best neighbours of ranked nodes, and the number of all their neighbours.

    `nodes` are best first, and are no neighbours themselves. The score of a neighbour is similarity
    + beta * structure. A `keep` of 0 returns all.
    """
    neighbours, structure = structure_scores(np.array(nodes, np.int64), links)
    scores = similarity(neighbours) + beta * structure
    return best_hits("node", neighbours, scores, keep), len(neighbours)


def structure_scores(node_ids: np.ndarray, links: SimpleGraph) -> tuple[np.ndarray, np.ndarray]:
    """Return the neighbours of ranked nodes that are not ranked, and their structure scores.

    `node_ids` are best first. The scores are float64 in [0, 2], by the formula of `ExpandNodes`. In
    the example, node 3 is linked to the second and the third of three ranked nodes and has five
    neighbours in all, so its score is 1 - 1/2 plus (2 - 1) / (3 - 1).

    >>> from core.graph.algorithms.simple_graph import SimpleGraph
    >>> from core.operators.nodes.expansion import structure_scores
    >>> # 3 in the middle of 1, 2, 4, 5, 6
    >>> indptr = np.array([0, 0, 1, 2, 7, 8, 9, 10])
    >>> star = SimpleGraph(indptr, np.array([3, 3, 1, 2, 4, 5, 6, 3, 3, 3]))
    >>> [part.tolist() for part in structure_scores(np.array([0, 1, 2]), star)]
    [[3], [1.0]]
    """
    from core.graph.kernels import structural_scores  # imported here because it loads numba

    return structural_scores(node_ids, links.indptr, links.neighbour_ids)

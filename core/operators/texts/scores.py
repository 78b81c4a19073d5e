"""Aggregators: scores passed from entities to relations, and from relations to chunks.

The in-depth analysis is the paper "In-depth Analysis of Graph-based RAG in a Unified Framework".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.graph.columns import IdLists
from core.graph.store import Graph
from core.graph.texts import chunks_of, n_chunks
from core.operators.base import Context, Operator, Recorder
from core.operators.texts.facts import similarity_edges
from core.operators.texts.hits import (
    LazyRanking,
    arrays_of,
    best_hits,
    best_names,
    keep_best_hits,
    scores_of,
)
from core.operators.texts.pagerank import MAX_EDGES_SOLVED
from core.parameters import param
from core.types import Ranking, State

# The scores of more edges are summed by a compiled function, which takes time to load.
MAX_EDGES_UNCOMPILED = 50_000
KEEP_EVERY_HELP = (
    "0 hands on every one with a score above 0, as the published code does before the chunks are "
    "cut."
)


@dataclass(frozen=True, repr=False)
class RelationsFromNodes(Operator):
    """Relations by the scores of their ends: score(e) = p(u) + p(v).

    In-depth analysis, relationship operator Aggregator (HippoRAG, FastGraphRAG). p is the score of
    a retrieved entity, and 0 for all others. Edges between similar names, which no text states, are
    left out (HippoRAG's facts) unless `alike` is set. With `mentions`, `keep` counts mentions: one
    for each chunk that states a relation (fast-graphrag, which has an edge for each). All mentions
    of the last relation are included.

    >>> line = "NamesInQuestion() >> LinkNames() >> RelationsFromNodes(keep=1)"
    >>> found = retrieve(
    ...     line, graph=story, question="Tim and Cratchit", models=scores({})
    ... ).relations
    >>> story.triple_texts(found.items), found.scores
    (['Tim -> son of -> Cratchit'], (2.0,))
    """

    stage = "retrieve"
    title = "relations by their entities' scores"
    plain = "takes the relations of the weightiest entities"
    reads, writes = ("nodes",), ("relations",)

    keep: int = param(
        4, "Relations", f"How many are taken. {KEEP_EVERY_HELP}", low=0, high=1_000_000
    )
    alike: bool = param(False, "Edges of alike names", "They count as relations as well.")
    mentions: bool = param(
        False,
        "By mention",
        "How many mentions are taken: a relation has one in each chunk that tells it, at least "
        "one.",
    )

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        assert state.nodes is not None
        graph = ctx.graph
        scores = scores_of(state.nodes, graph.n_nodes)
        if graph.n_edges > MAX_EDGES_SOLVED and not self.keep:
            edges = _incident_edges(graph, np.array(state.nodes.items, np.int64), self.alike)
            edge_scores = scores[graph.heads[edges]] + scores[graph.tails[edges]]
            relations: Ranking = LazyRanking("triple", edges, edge_scores)
        else:
            nodes = np.array(sorted(state.nodes.items), np.int64)
            edges = np.sort(graph.steps_from(nodes, "both").edges)
            # each edge once; faster than np.unique for many edges
            edges = edges[np.diff(edges, prepend=-1) != 0]
            if not self.alike:
                edges = edges[~np.isin(edges, similarity_edges(graph))]
            heads, _, tails = graph.triples(edges)
            # with `mentions` too: each relation has at least one, so `keep` relations are enough
            relations = best_hits("triple", edges, scores[heads] + scores[tails], self.keep)
        if self.mentions and self.keep:
            counts = chunks_of(graph, "edges").counts[np.array(relations.items, np.int64)]
            n_mentions = np.maximum(counts, 1)
            mentions_before = np.cumsum(n_mentions) - n_mentions
            relations = relations.head(int(np.count_nonzero(mentions_before < self.keep)))
        recorder.notes.append(f"The best: {best_names(graph, relations) or 'none'}.")
        return state.replace(relations=relations)


@dataclass(frozen=True, repr=False)
class ChunksFromRelations(Operator):
    """Chunks by the summed scores of the relations that they state.

    The sums are scaled to the range from 0 to 1. In-depth analysis, chunk operator Aggregator:
    relation scores times incidence, min-max normalised. Of chunks with equal scores its code lists
    the last first; this operator lists the first one first.

    >>> relations = "NamesInQuestion() >> LinkNames() >> RelationsFromNodes(keep=0)"
    >>> line = f"{relations} >> ChunksFromRelations()"
    >>> # works for: chunks 1 and 2; son of: chunk 2
    >>> found = retrieve(line, graph=story, question="Cratchit", models=scores({})).chunks
    >>> story.columns.chunks.texts("id", found.items), found.scores
    (['carol#2', 'carol#1'], (1.0, 0.5))
    """

    stage = "retrieve"
    title = "chunks by their relations' scores"
    plain = "takes the passages of the weightiest relations"
    reads, writes = ("relations",), ("chunks",)

    keep: int = param(4, "Chunks", "How many are taken.", low=1, high=10_000)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        assert state.relations is not None
        edges, scores = arrays_of(state.relations)
        sums, has_edges = _chunk_score_sums(
            chunks_of(ctx.graph, "edges"), edges, scores, n_chunks(ctx.graph)
        )
        ids = np.flatnonzero(has_edges)
        # the minimum is over all chunks, and a chunk without any relation has 0
        min_sum = sums.min() if 0 < len(ids) == len(sums) else 0.0
        sum_range = sums.max() - min_sum if len(ids) else 0.0
        scaled = (sums[ids] - min_sum) / sum_range if sum_range > 0 else np.ones(len(ids))
        return state.replace(chunks=keep_best_hits(recorder, "chunk", ids, scaled, self.keep))


def _incident_edges(graph: Graph, nodes: np.ndarray, alike: bool) -> np.ndarray:
    """Return the edges at some nodes, ascending.

    Edges of similar names are included only with `alike`. The edges are marked in an array of all
    edges of the graph, which is faster than sorting if the nodes have many of them.
    """
    from core.graph.algorithms.traversal import mark_edges_at  # loads numba

    graph.check_digests()
    marked = np.zeros(graph.n_edges, bool)
    mark_edges_at(nodes, graph.out_indptr, graph.in_indptr, graph.in_edges, marked)
    if not alike:
        marked[similarity_edges(graph)] = False
    return np.flatnonzero(marked)


def _chunk_score_sums(
    rows: IdLists, edges: np.ndarray, scores: np.ndarray, n: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return for each chunk the sum of its edges' scores.

    A flag is true if a chunk has any of the edges.

    Parameters
    ----------
    rows : the rows of the chunks that state each edge of the graph.
    edges, scores : some edges and their scores, aligned.
    n : number of chunks.

    Returns
    -------
    Sums, float64 [n], and flags, bool [n].
    """
    if len(edges) <= MAX_EDGES_UNCOMPILED:
        lists = rows.take(edges)
        chunk_sums = np.bincount(lists.ids, np.repeat(scores, lists.counts), n)
        return chunk_sums, np.bincount(lists.ids, minlength=n) > 0
    from core.graph.algorithms.traversal import add_to_rows  # loads numba

    sums = np.zeros(n)
    has_edges = np.zeros(n, bool)
    add_to_rows(edges, scores, rows.indptr, rows.ids, sums, has_edges)
    return sums, has_edges

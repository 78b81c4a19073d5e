"""Operators that return the chunks in which retrieved relations and entities occur.

The in-depth analysis is the paper "In-depth Analysis of Graph-based RAG in a Unified Framework".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from core.graph.protocol import KnowledgeGraph
from core.graph.texts import chunk_lists, chunk_text, chunks_of
from core.indexes.partial_index import direct_cosines
from core.indexes.vectors import vector_index
from core.models.base import question_vectors
from core.operators.base import Context, Operator, Recorder
from core.operators.texts.hits import count_fitting_texts, keep_best_hits
from core.operators.texts.merge import interleave_lists, score_by_position
from core.operators.texts.neighbours import relation_scores
from core.parameters import param
from core.types import Ranking, State, Usage

CHUNK_BUDGET_HELP = "How many tokens they may have together; 0: no limit."


@dataclass(frozen=True, repr=False)
class ChunksOfRelations(Operator):
    """The chunks that state the retrieved relations, those of the best relation first.

    In-depth analysis, chunk operator FromRel (LightRAG's global search): the union of the
    relations' source chunks, in the order of the first relation that names each, cut at a budget of
    4,000 tokens. A chunk has the score of that relation.

    >>> line = "EmbedQuery() >> VectorRelations(keep=1) >> ChunksOfRelations()"
    >>> found = retrieve(line, graph=story, question="the nephew", models=scores({})).chunks
    >>> story.columns.chunks.texts("id", found.items)
    ['carol#1']
    """

    stage = "retrieve"
    title = "chunks of the relations"
    plain = "takes the passages that these relations come from"
    reads, writes = ("relations",), ("chunks",)

    budget: int = param(4000, "Tokens", CHUNK_BUDGET_HELP, low=0, high=1_000_000)
    keep: int = param(0, "Chunks at most", "0: limited by the tokens only.", low=0, high=10_000)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        assert state.relations is not None
        chunks_of_relations = chunk_lists(ctx.graph, "edges", state.relations.items)
        best_scores: dict[int, float] = {}
        for score, rows in zip(relation_scores(state.relations), chunks_of_relations):
            for row in rows:
                best_scores.setdefault(row, score)
        return state.replace(
            chunks=_chunks_within_budget(ctx.graph, best_scores, self.budget, self.keep, recorder)
        )


@dataclass(frozen=True, repr=False)
class ChunksByOccurrence(Operator):
    """Chunks in which the retrieved entities occur together, within a budget of tokens.

    In-depth analysis, chunk operator Occurrence. With `reading` "paper", the score of a chunk is
    the number of retrieved relations whose ends it both mentions; the best `keep` are returned.
    With "code", as in nano-graphrag and LightRAG, the chunks of the retrieved entities are
    returned, those of the first entity first. The chunks of an entity are ordered by the number of
    its neighbours that they mention too. Their score is minus the entity's rank, plus that number
    as a fraction.

    >>> line = "NamesInQuestion() >> LinkNames() >> IncidentRelations() >> ChunksByOccurrence()"
    >>> found = retrieve(line, graph=story, question="Cratchit", models=scores({})).chunks
    >>> # Cratchit and Scrooge: 1 and 2; Tim and Cratchit: 2
    >>> story.columns.chunks.texts("id", found.items), found.scores
    (['carol#2', 'carol#1'], (2.0, 1.0))
    """

    stage = "retrieve"
    title = "chunks by occurrence"
    plain = "takes the passages that most of them occur in"
    writes = ("chunks",)

    reading: str = param(
        "paper",
        "Reading",
        "The paper's rule, by relations, or the code's, by entities.",
        choices=("paper", "code"),
    )
    keep: int = param(4, "Chunks at most", "0: limited by the tokens only.", low=0, high=10_000)
    budget: int = param(4000, "Tokens", CHUNK_BUDGET_HELP, low=0, high=1_000_000)

    @property
    def reads(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("relations",) if self.reading == "paper" else ("nodes",)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        if self.reading == "paper":
            scores = _scores_by_relations(ctx.graph, state.relations)
        else:
            scores = _scores_by_entity(ctx.graph, state.nodes, ctx)
        return state.replace(
            chunks=_chunks_within_budget(ctx.graph, scores, self.budget, self.keep, recorder)
        )

    def words(self) -> str:
        return "chunks by occurrence"


@dataclass(frozen=True, repr=False)
class ChunksOfHits(Operator):
    """The chunks of the retrieved entities and relations, by cosine with the question.

    This is LightRAG 1.5. If n retrieved entities have chunks, the `each` * n / 2 of these chunks
    that are nearest to the question are taken. Each other chunk of the relations counts for the
    best relation that it states. If there are m such relations, the `each` * m / 2 nearest of these
    chunks are taken. Both lists are interleaved. Chunks that were retrieved before, as in
    LightRAG's mixed search, are a third list and come first in each turn.

    >>> line = "NamesInQuestion() >> LinkNames() >> IncidentRelations() >> ChunksOfHits(keep=1)"
    >>> question = "Was Tim lame, the son of Cratchit?"
    >>> found = retrieve(line, graph=story, question=question, models=scores({})).chunks
    >>> story.columns.chunks.texts("id", found.items)
    ['carol#2']
    """

    stage = "retrieve"
    title = "chunks of the hits"
    plain = "takes the {keep:,} closest in meaning of the passages they come from"
    reads_any, writes = ("nodes", "relations"), ("chunks",)

    each: int = param(
        5, "Chunks each", "Of every two entities, or relations, so many chunks.", low=1, high=1000
    )
    keep: int = param(20, "Chunks at most", "How many stay of all.", low=1, high=10_000)
    encoder: str = param(
        "encoder",
        "Encoder",
        "The sentence encoder that compares chunks with the question.",
        model=True,
    )

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        # the rows of the chunks of each entity, and of each relation
        node_rows = chunk_lists(ctx.graph, "nodes", state.nodes.items if state.nodes else ())
        relations = state.relations.items if state.relations else ()
        edge_rows = chunk_lists(ctx.graph, "edges", relations)
        cosines = self._cosines(state, set().union(*node_rows, *edge_rows), ctx, recorder)

        def nearest(rows: Iterable[int], n_hits: int) -> list[int]:
            order = sorted(rows, key=lambda row: (-cosines[row], row))
            return order[: self.each * n_hits // 2]

        by_nodes = nearest(set().union(*node_rows), sum(map(bool, node_rows)))
        # the rank of the best relation of each chunk that is not in `by_nodes`
        first_relation: dict[int, int] = {}
        for rank, rows in enumerate(edge_rows):
            for row in set(rows).difference(by_nodes):
                first_relation.setdefault(row, rank)
        by_edges = nearest(first_relation, len(set(first_relation.values())))
        retrieved = state.chunks.items if state.chunks else ()
        order = score_by_position("chunk", interleave_lists(retrieved, by_nodes, by_edges))
        recorder.before_cut = order
        return state.replace(chunks=order.head(self.keep))

    def _cosines(
        self, state: State, rows: set[int], ctx: Context, recorder: Recorder
    ) -> dict[int, float]:
        """Return the cosine of the question with each of these chunks, by row."""
        if not rows:
            return {}
        encoder = ctx.models.encoder(self.encoder)
        chunk_rows = np.array(sorted(rows), np.int64)
        recorder.usage += Usage(texts=1)
        vector = question_vectors(encoder, [state.question.text], ctx.watch)[0]
        cosines = None
        if not ctx.waits_for_vectors:
            cosines = direct_cosines(ctx.graph, encoder, "chunks", vector, chunk_rows, ctx.watch)
        if cosines is None:
            index = vector_index(ctx.graph, encoder, "chunks", ctx.watch)
            cosines = index.cosines(vector, chunk_rows)
        return dict(zip(chunk_rows.tolist(), cosines.tolist()))

    def words(self) -> str:
        return f"{self.keep:,} chunks of the hits by vector"


def _scores_by_relations(graph: KnowledgeGraph, relations: Ranking | None) -> dict[int, float]:
    """Return for each chunk the number of relations whose two entities it both mentions."""
    heads, _, tails = graph.triples(np.array(relations.items if relations else (), np.int64))
    rows = chunks_of(graph, "nodes")
    counts: Counter[int] = Counter()
    for head, tail in zip(heads.tolist(), tails.tolist()):
        counts.update(np.intersect1d(rows[head], rows[tail]).tolist())
    return {row: float(count) for row, count in counts.items()}


def _scores_by_entity(
    graph: KnowledgeGraph, nodes: Ranking | None, ctx: Context
) -> dict[int, float]:
    """Return the score of each chunk, by the best retrieved entity that it mentions.

    The score is minus the entity's rank (from 0), plus the fraction of the entity's neighbours that
    the chunk mentions too. This fraction is below 1.
    """
    rows = chunks_of(graph, "nodes")
    best_scores: dict[int, float] = {}
    for rank, node in enumerate(nodes.items if nodes else ()):
        ctx.watch.check()
        neighbours = np.setdiff1d(graph.steps(node, "both")[0], [node])
        counts: Counter[int] = Counter()
        for neighbour in neighbours.tolist():
            counts.update(rows[neighbour].tolist())
        for row in rows[node].tolist():
            best_scores.setdefault(row, -rank + counts[row] / (1 + len(neighbours)))
    return best_scores


def _chunks_within_budget(
    graph: KnowledgeGraph, scores: dict[int, float], budget: int, keep: int, recorder: Recorder
) -> Ranking:
    """Return the best `keep` chunks within the budget; 0 sets no limit for either."""
    order = keep_best_hits(recorder, "chunk", scores, scores.values(), keep)
    if not budget:
        return order
    n_fitting = count_fitting_texts((chunk_text(graph, row) for row in order.items), budget)
    if n_fitting < len(order):
        recorder.notes.append(
            f"{n_fitting:,} of {len(order):,} chunks have room in {budget:,} tokens."
        )
    return order.head(n_fitting)

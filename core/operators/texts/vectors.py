"""Dense retrieval: the nodes, relations, chunks or communities nearest to the question.

The in-depth analysis is the paper "In-depth Analysis of Graph-based RAG in a Unified Framework".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.graph.store import Graph
from core.indexes.partial_index import PartialVectors, available_vectors
from core.indexes.vector_blocks import ItemKind, count_items
from core.indexes.vectors import VectorIndex, vector_index
from core.operators.base import Context, Operator, Recorder
from core.operators.texts.facts import similarity_edges
from core.operators.texts.hits import (
    HIT_WORDS,
    KIND_BY_FIELD,
    MAX_HITS_BEFORE_CUT,
    best_hits,
    best_names,
    missing_reports_note,
)
from core.operators.texts.neighbours import endpoint_degrees
from core.parameters import param
from core.types import Ranking, State

NEAREST_KEEP_HELP = "How many of the nearest are taken; 4 in the in-depth analysis."
VECTOR_ORDER_HELP = (
    "nearest: by cosine; connected: those between the best connected entities first, then by "
    "weight."
)
LEAST_COSINE_HELP = "The least cosine of a hit; -1 takes all (LightRAG and nano-graphrag: 0.2)."


def searchable_vectors(encoder: str, kind: ItemKind, ctx: Context) -> VectorIndex | PartialVectors:
    """Return a vector index of the nodes, relations, chunks or communities of the graph.

    If the search may begin before all texts are encoded, the index has the vectors made so far, and
    the others are encoded in the background. `encoder` is the name or role of the encoder.
    """
    start_encoding = ctx.environment.start_encoding
    model = ctx.models.encoder(encoder)
    if ctx.waits_for_vectors or start_encoding is None:
        return vector_index(ctx.graph, model, kind, ctx.watch)
    return available_vectors(
        ctx.graph, model, kind, lambda: start_encoding(ctx.graph, encoder, kind), ctx.watch
    )


class VectorHits(Operator):
    """Base of searches by vector: the best `keep` hits with a cosine of at least `least`.

    The ranking before this cut is recorded for the trace.
    """

    stage = "retrieve"
    reads = ("vector",)
    field: ClassVar[str]  # the field of the state that receives the hits
    keep: int
    least: float
    encoder: str

    @property
    def item_kind(self) -> ItemKind:
        """Kind of the texts whose vectors are searched."""
        return self.field  # type: ignore[return-value]

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        return state.replace(**{self.field: self._search(state, ctx, recorder)})

    def _search(self, state: State, ctx: Context, recorder: Recorder) -> Ranking:
        kind = KIND_BY_FIELD[self.field]
        total = count_items(ctx.graph, self.item_kind)
        if not total:
            recorder.notes.append(f"The graph “{ctx.graph.name}” has no {self.field}.")
            return Ranking(kind, (), ())
        if state.vector is None:
            recorder.notes.append("There is nothing to search by.")
            return Ranking(kind, (), ())
        index = searchable_vectors(self.encoder, self.item_kind, ctx)
        ctx.watch.report("Searching vectors")
        n_searched = min(total, max(self.keep, MAX_HITS_BEFORE_CUT))
        ids, scores = index.nearest(state.vector, n_searched, self._excluded_ids(ctx.graph))
        order = best_hits(kind, ids, scores)
        # the scores descend, so the first `n_near` hits are near enough
        n_near = sum(score >= self.least for score in order.scores or ())
        hits = order.head(min(self.keep, n_near))
        recorder.before_cut = order
        searched = f"{total:,} {self.field}"
        if isinstance(index, PartialVectors):
            recorder.partly = index.encoded_share_text
            searched = f"{len(index):,} of {searched}, as the others are still being encoded"
        recorder.notes.append(
            f"The nearest of {searched}: {best_names(ctx.graph, hits) or 'none near enough'}."
        )
        recorder.notes.extend(filter(None, (index.source, index.approximation_note)))
        return hits

    def _excluded_ids(self, graph: Graph) -> np.ndarray:
        """Return the ids that are never hits, ascending; by default none."""
        return np.empty(0, np.int64)

    def words(self) -> str:
        return f"{self.keep:,} {'entities' if self.field == 'nodes' else self.field} by vector"

    def plain_words(self) -> str:
        return f"takes the {self.keep:,} {HIT_WORDS.get(self.field, self.field)} closest in meaning"


@dataclass(frozen=True, repr=False)
class VectorNodes(VectorHits):
    """The `keep` entities whose vectors are nearest to the question's.

    In-depth analysis, node operator VDB. An entity is read as `name: type: description`, a node of
    a tree or of a passage graph as its text.

    >>> line = "EmbedQuery() >> VectorNodes(keep=1)"
    >>> story.names(
    ...     retrieve(line, graph=story, question="a lame son", models=scores({})).nodes.items
    ... )
    ['Tim']
    """

    title = "entities by vector"
    field, writes = "nodes", ("nodes",)

    keep: int = param(4, "Entities", NEAREST_KEEP_HELP, low=1, high=10_000)
    least: float = param(-1.0, "Least cosine", LEAST_COSINE_HELP, low=-1, high=1)
    encoder: str = param(
        "encoder", "Encoder", "The sentence encoder; the one that read the question.", model=True
    )


@dataclass(frozen=True, repr=False)
class VectorRelations(VectorHits):
    """The `keep` relations whose vectors are nearest to the question's.

    In-depth analysis, relationship operator VDB (LightRAG's global search). With `reading` "paper"
    the text of a relation has its name, keywords, ends and description. With "code" it is only the
    name if relations have names, else the rest. `order` "connected" lists the hits as in LightRAG's
    code, by the sum of their ends' degrees and then by weight. Edges between similar names, which
    no text states, are no hits.

    >>> line = "EmbedQuery() >> VectorRelations(keep=1)"
    >>> found = retrieve(line, graph=story, question="the nephew", models=scores({})).relations
    >>> story.triple_texts(found.items)
    ['Fred -> nephew of -> Scrooge']
    """

    title = "relations by vector"
    field, writes = "relations", ("relations",)

    keep: int = param(4, "Relations", NEAREST_KEEP_HELP, low=1, high=10_000)
    least: float = param(-1.0, "Least cosine", LEAST_COSINE_HELP, low=-1, high=1)
    reading: str = param(
        "paper",
        "Reading",
        "What of a relation is read: all that is told of it, or its name.",
        choices=("paper", "code"),
    )
    order: str = param("nearest", "Order", VECTOR_ORDER_HELP, choices=("nearest", "connected"))
    encoder: str = param(
        "encoder", "Encoder", "The sentence encoder; the one that read the question.", model=True
    )

    @property
    def item_kind(self) -> ItemKind:
        return "relations" if self.reading == "paper" else "relation-names"

    def _excluded_ids(self, graph: Graph) -> np.ndarray:
        return similarity_edges(graph)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        hits = self._search(state, ctx, recorder)
        if self.order == "connected" and len(hits):
            edges = np.array(hits.items, np.int64)
            hits = best_hits("triple", edges, endpoint_degrees(ctx.graph, edges))
        return state.replace(relations=hits)


@dataclass(frozen=True, repr=False)
class VectorChunks(VectorHits):
    """The `keep` chunks whose vectors are nearest to the question's: plain retrieval of passages.

    In-depth analysis, VanillaRAG and the chunk operator VDB (technical report B.1). A chunk is read
    as its title and its text.

    >>> line = "EmbedQuery() >> VectorChunks(keep=1)"
    >>> found = retrieve(line, graph=story, question="who was dead", models=scores({})).chunks
    >>> story.columns.chunks.texts("id", found.items)
    ['carol#0']
    """

    title = "chunks by vector"
    field, writes = "chunks", ("chunks",)

    keep: int = param(4, "Chunks", NEAREST_KEEP_HELP, low=1, high=10_000)
    least: float = param(-1.0, "Least cosine", LEAST_COSINE_HELP, low=-1, high=1)
    encoder: str = param(
        "encoder", "Encoder", "The sentence encoder; the one that read the question.", model=True
    )


@dataclass(frozen=True, repr=False)
class VectorCommunities(VectorHits):
    """The `keep` communities whose vectors are nearest to the question's.

    In-depth analysis, community operator VDB (technical report B.1), new with VGraphRAG and
    CheapRAG. A community is read as its title and report, or as the names of its members if it has
    no report.

    >>> line = "EmbedQuery() >> VectorCommunities(keep=1)"
    >>> found = retrieve(line, graph=story, question="the firm", models=scores({})).communities
    >>> story.columns.communities.texts("title", found.items)
    ['Firm']
    """

    title = "communities by vector"
    field, writes = "communities", ("communities",)

    keep: int = param(4, "Communities", NEAREST_KEEP_HELP, low=1, high=10_000)
    least: float = param(-1.0, "Least cosine", LEAST_COSINE_HELP, low=-1, high=1)
    encoder: str = param(
        "encoder", "Encoder", "The sentence encoder; the one that read the question.", model=True
    )

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        new_state = super().apply(state, ctx, recorder)
        if new_state.communities:
            recorder.notes += missing_reports_note(ctx.graph, new_state.communities)
        return new_state

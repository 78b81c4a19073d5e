"""Chunks of a lane on a corpus, and outcomes of gold passages.

The chunks are those retrieved and those shown. A gold passage is a document, or a quotation of it,
that holds the evidence for the answer. It is found if one of its chunks is. Chunks are given by
their rows in the graph's table of chunks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from core.corpus.quotations import holds_quotation, quotation_halves, split_passage_name
from core.diagnosis.causes import Cause, Fate
from core.diagnosis.wording import is_or_are
from core.graph.protocol import KnowledgeGraph
from core.graph.texts import chunk_nodes, chunks_of, has_chunk_nodes, hit_names, hit_texts
from core.operators.nodes.documents import DocumentsOfNodes
from core.types import Ranking, State, Step

MAX_CACHED_QUOTATIONS = 1024  # passages with a quotation whose chunks are cached


def fates(graph: KnowledgeGraph, states: Sequence[State], gold: Sequence[str]) -> tuple[Fate, ...]:
    """Return the outcome of each gold passage in a lane.

    Passages are in the given order, without repeats. The outcome is that of the passage's best
    chunk in the last ranking, else in the last ranking that an operator cut. `states` are the
    states of the lane, oldest first.
    """
    return tuple(
        replace(_fate(graph, states, document), document=document)
        for document in dict.fromkeys(gold)
    )


def _fate(graph: KnowledgeGraph, states: Sequence[State], document: str) -> Fate:
    rows = chunk_rows(graph, document)
    last = states[-1] if states else None
    if last is None or not rows:
        return Fate(Cause.NOT_IN_GRAPH, "not in the graph")
    for ranking in (last.chunks, last.nodes):
        order = _as_chunks(graph, ranking)
        rank = _first_rank(order, rows)
        if rank is not None:
            return _retrieved_fate(graph, last, rows, order=order, rank=rank)
    in_loop = any(found_in_batches(step) for step in last.trace)
    for step in reversed(last.trace):
        order = _as_chunks(graph, step.before_cut)
        rank = _first_rank(order, rows)
        if rank is not None:
            return _cut_fate(graph, step, order, rank=rank, in_loop=in_loop)
    return Fate(Cause.NOT_REACHED, "never reached", chunk=_chunk_name(graph, min(rows)))


def _retrieved_fate(
    graph: KnowledgeGraph, state: State, rows: frozenset[int], *, order: Sequence[int], rank: int
) -> Fate:
    """Return the outcome of a passage in the last ranking: found, or ranked too low to be used.

    `order` holds the ranked chunks, and `rank`, from 1, is that of the best chunk among `rows`.
    """
    chunk = _chunk_name(graph, order[rank - 1])
    fate = Fate(Cause.FOUND, f"rank {rank:,}", rank, len(order), chunk=chunk)
    handed_rows = handed_on_chunks(graph, state)
    if handed_rows is not None and rows.isdisjoint(handed_rows):
        limit = len(handed_rows)
        text = too_late_text(rank, limit)
        step = _cut_of_documents(state)
        return replace(fate, cause=Cause.NO_ROOM, text=text, n_retained=limit, step=step)
    if rows.isdisjoint(shown_chunks(graph, state) or rows):
        return replace(fate, cause=Cause.NO_ROOM, text=f"rank {rank:,}, no room in the prompt")
    return fate


def _cut_of_documents(state: State) -> Step | None:
    """Return the last step that cut the documents of nodes.

    It took the documents and cut their order. The result is None if no step did.
    """
    for step in reversed(state.trace):
        if step.operator == DocumentsOfNodes.__name__ and step.before_cut is not None:
            return step
    return None


def _cut_fate(
    graph: KnowledgeGraph, step: Step, order: Sequence[int], *, rank: int, in_loop: bool
) -> Fate:
    """Return the outcome of a passage that a step ranked and dropped.

    `in_loop` is True if the lane searched in batches; then no later batch reached the passage.
    """
    limit = retained_by(step)
    if in_loop:
        cause = Cause.BATCH
        text = f"never reached: rank {rank:,} of the first search"
    else:
        cause = Cause.OUTRANKED
        text = too_late_text(rank, limit)
    chunk = _chunk_name(graph, order[rank - 1])
    return Fate(cause, text, rank, len(order), limit, step=step, chunk=chunk)


def _chunk_name(graph: KnowledgeGraph, row: int) -> str:
    return hit_names(graph, "chunk", [row])[0]


def too_late_text(rank: int, limit: int | None) -> str:
    """Return words for an item that was ranked behind the kept ones.

    >>> from core.diagnosis.passages import too_late_text
    >>> too_late_text(12, 1), too_late_text(1200, None)
    ('rank 12; only the top 1 is kept', 'rank 1,200: too low')
    """
    cut = f"; only the top {limit:,} {is_or_are(limit)} kept" if limit else ": too low"
    return f"rank {rank:,}{cut}"


def handed_on_chunks(graph: KnowledgeGraph, state: State) -> frozenset[int] | None:
    """Return the chunks that a lane passed on.

    The lane must also have ranked nodes that are chunks. The result is None if it ranked no such
    nodes: then all chunks that it found were passed on.
    """
    if state.chunks is None or state.nodes is None or not chunk_nodes(graph, state.nodes.items):
        return None
    return frozenset(state.chunks.items)


def found_in_batches(step: Step) -> bool:
    """Return whether an operator found nodes in several batches, each with a frame."""
    return len(step.frames) > 1 and step.frames[0].ranking.kind == "node"


def retained_by(step: Step) -> int | None:
    """Return how many candidates an operator keeps, if a parameter sets it.

    >>> from core.diagnosis.passages import retained_by
    >>> from core.types import Step
    >>> retained_by(Step("SparseChunks", "retrieve", {"keep": 4, "by": "bm25"}, 0.0))
    4
    """
    keep = step.parameters.get("keep")
    return keep if isinstance(keep, int) and keep > 0 else None


def chunk_rows(graph: KnowledgeGraph, passage: str) -> frozenset[int]:
    """Return the rows of a passage's chunks; empty if the graph has none.

    The passage is a document, or a document and a quotation (`core.corpus.quotations`). For a
    quotation, the rows are the chunks that contain it. If none contains all of it, because it was
    split, they are the chunks that contain half of its words.
    """
    document, quote = split_passage_name(passage)
    rows = _rows_by_document(graph).get(document, frozenset())
    if not quote or not rows:
        return rows

    def make() -> frozenset[int]:
        texts = dict(zip(sorted(rows), hit_texts(graph, "chunk", sorted(rows))))

        def rows_with(*quotes: str) -> frozenset[int]:
            return frozenset(
                row
                for row, text in texts.items()
                if any(holds_quotation(text, quotation) for quotation in quotes)
            )

        return rows_with(quote) or rows_with(*filter(None, quotation_halves(quote)))

    return graph.derived.get_or_make("chunks by quotation", passage, make, MAX_CACHED_QUOTATIONS)


def gold_rows(graph: KnowledgeGraph, gold: Iterable[str]) -> frozenset[int]:
    """Return the rows of the chunks of several passages."""
    return frozenset[int]().union(*(chunk_rows(graph, passage) for passage in gold))


def _rows_by_document(graph: KnowledgeGraph) -> dict[str, frozenset[int]]:
    def make() -> dict[str, frozenset[int]]:
        table = graph.columns.chunks
        rows: dict[str, set[int]] = defaultdict(set)
        for row, document in enumerate(table.texts("document") if table is not None else ()):
            rows[document].add(row)
        return {document: frozenset(row_set) for document, row_set in rows.items()}

    return graph.derived.get_or_make("chunks by document", None, make)


def retrieved_chunks(graph: KnowledgeGraph, state: State) -> frozenset[int] | None:
    """Return the rows of the chunks among the hits, including nodes that are chunks.

    The result is None if the state has no hits.
    """
    if not state.hits:
        return None
    return frozenset(_as_chunks(graph, state.chunks)) | frozenset(_as_chunks(graph, state.nodes))


def chunk_order(
    graph: KnowledgeGraph, state: State
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Return the retrieved chunks, best first, and the longer order.

    The retrieved chunks were cut from the longer order. If the longer order is unknown, both are
    the same. The result is None if the state ranks no chunks.
    """
    if state.chunks is None and (state.nodes is None or not has_chunk_nodes(graph)):
        return None
    chunks = _as_chunks(graph, state.chunks) or _as_chunks(graph, state.nodes)
    for step in reversed(state.trace):
        order = _as_chunks(graph, step.before_cut)
        if len(order) > len(chunks) and order[: len(chunks)] == chunks:
            return chunks, order
    return chunks, chunks


def shown_chunks(graph: KnowledgeGraph, state: State) -> frozenset[int] | None:
    """Return the rows of the chunks that the prompt shows.

    The result is None if there is no prompt.
    """
    if state.prompt is None:
        return None
    table_items = {table.kind: table.items for table in state.tables or ()}
    rows: set[int] = set()
    for hits in (state.chunks, state.nodes):
        if hits is not None:
            items = table_items.get(hits.kind, hits.items)
            count = state.prompt.hits.get(hits.kind, 0)
            rows.update(_as_chunks(graph, Ranking(hits.kind, items[:count])))
    return frozenset(rows)


def _as_chunks(graph: KnowledgeGraph, ranking: Ranking | None) -> tuple[int, ...]:
    """Return the chunks of a ranking in its order: its items, or its nodes that are chunks."""
    if ranking is None or ranking.kind not in ("chunk", "node"):
        return ()
    if ranking.kind == "chunk":
        return ranking.items
    node_rows = chunk_nodes(graph, ranking.items)
    return tuple(node_rows[node] for node in ranking.items if node in node_rows)


def _first_rank(order: Sequence[int], rows: frozenset[int]) -> int | None:
    return next((rank for rank, row in enumerate(order, 1) if row in rows), None)


def chunks_with_nodes(graph: KnowledgeGraph, rows: frozenset[int]) -> frozenset[int]:
    """Return the chunks from which a node of the graph was made.

    In a graph without nodes all chunks are returned.
    """
    if not graph.n_nodes:
        return rows
    with_nodes = graph.derived.get_or_make(
        "chunks with nodes",
        None,
        lambda: frozenset(np.unique(chunks_of(graph, "nodes").ids).tolist()),
    )
    return rows & with_nodes

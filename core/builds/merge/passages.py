"""Operator of stage “merge” for passage graphs, which link chunks that share entities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from core.builds.base import BuildContext, BuildOperator, BuildState
from core.builds.fact_collections import NumberColumns, TextIds
from core.builds.facts import Facts
from core.builds.merge.columns import collect_all, distinct_rows, most_frequent
from core.builds.name_folding import NAME_READINGS, fold_name
from core.graph.building.text_graph import graph_of_parts
from core.graph.columns import IdLists, Table, concat_texts, join_texts
from core.graph.order import in_name_order
from core.parameters import param

SHARES_ENTITY = "shares entity"
MAX_SHOWN_ENTITIES = 10  # most shared entities that an edge names
COMPARE_BATCH_ROWS = 1 << 20  # about how many pairs of chunks are compared in one batch


@dataclass(frozen=True, repr=False)
class PassageGraph(BuildOperator):
    """A node for each chunk, and an edge between two that share at least `min_shared` entities.

    This is KGP's graph. A node is named by the id of its chunk. The weight of an edge is the number
    of shared entities, its description their names.

    An entity in more than `common` chunks links none, because otherwise a ubiquitous one would link
    everything. The In-depth Analysis of Graph-based RAG sets no such bound: its passage graphs link
    all chunks that share enough entities. `passage-paper` uses 1,000.
    """

    stage = "merge"
    title = "passages that share entities"
    reads, writes = ("chunks", "facts"), ("graph",)

    min_shared: int = param(
        1, "Shared entities", "Fewest entities that two linked chunks share.", low=1, high=1000
    )
    common: int = param(
        50, "Too common", "An entity in more chunks than this links none.", low=2, high=1000
    )
    reading: str = param(
        "unicode",
        "Names",
        "All letters count in names, or only a-z and 0-9 as in the code.",
        choices=NAME_READINGS,
    )

    def apply(self, state: BuildState, ctx: BuildContext) -> BuildState:
        # A line without these is refused.
        assert state.chunks is not None and state.facts is not None
        mentions = collect_all(state.facts, partial(Mentions, self.reading), "Gathering names", ctx)
        ids, node_of_row = in_name_order(state.chunks.texts("id"))
        names, rows = self._entities(mentions, ctx)
        index = SharedEntityIndex.from_entities(names, rows, node_of_row, self.min_shared)
        del mentions  # to free its memory
        # Heads, tails and numbers of shared entities of each batch. The first, empty one makes a
        # result without edges possible. The list is complete only after `concat_texts`.
        batches = [[np.empty(0, np.int32)] * 3]

        def descriptions() -> Iterator[Any]:
            """Yield the descriptions of the edges of each batch, and fill `batches`."""
            for done, pairs in index.pairs():
                ctx.watch.check()
                ctx.watch.report("Joining passages", done / len(ids))
                batches.append([pairs.heads, pairs.tails, pairs.shared])
                yield join_texts(pairs.names.limit_rows(MAX_SHOWN_ENTITIES), index.names, ", ")

        edge_texts = concat_texts(descriptions())
        heads, tails, shared = map(np.concatenate, zip(*batches))
        row_of_node, n = np.argsort(node_of_row), len(ids)
        end_rows = np.column_stack([row_of_node[heads], row_of_node[tails]])
        nodes = Table.from_columns(
            type=["chunk"] * n,
            description=[""] * n,
            level=np.zeros(n, np.int32),
            chunks=IdLists(np.arange(n + 1), row_of_node.astype(np.int64)),
        )
        edges = Table.from_columns(
            description=edge_texts,
            weight=shared.astype(np.float32),
            chunks=IdLists(2 * np.arange(len(end_rows) + 1), end_rows.astype(np.int64).ravel()),
        )
        triples = heads, np.zeros(len(heads), np.int32), tails
        relations = [SHARES_ENTITY] if len(heads) else []
        tables = nodes, edges
        graph = graph_of_parts(state.corpus.name, ids, relations, triples, tables, state.chunks)
        return state.replace(graph=graph)

    def words(self) -> str:
        noun = "entity" if self.min_shared == 1 else "entities"
        return f"passages that share {self.min_shared} {noun}"

    def _entities(self, mentions: Mentions, ctx: BuildContext) -> tuple[list[str], IdLists]:
        """Return the names and chunks of entities that may link chunks.

        They are sorted by folded name. Entities in one chunk only, or in more than `common`, are
        left out. The latter are reported.
        """
        texts = list(mentions.names)
        # Of each key, which is a folded name: its most frequent spelling, and its distinct rows.
        spellings = most_frequent(mentions.spelled.arrays(), mentions.names.sort_ranks())[1]
        mention_keys, mention_rows = mentions.where.arrays()
        rows = distinct_rows(mention_keys, mention_rows, len(mentions.keys))
        names = [texts[spelling] for spelling in spellings.tolist()]
        common = np.flatnonzero(rows.counts > self.common).tolist()
        if common:
            common.sort(key=lambda key: (-rows.counts[key], names[key]))
            shown = ", ".join(names[key] for key in common[:MAX_SHOWN_ENTITIES])
            ctx.report.note(
                f"{len(common):,} entities are in more than {self.common} chunks and join "
                f"none: {shown}."
            )
        order = np.argsort(mentions.keys.sort_ranks())  # of the keys
        order = order[(rows.counts[order] > 1) & (rows.counts[order] <= self.common)]
        return [names[key] for key in order.tolist()], rows.take(order)


class Mentions:
    """Names of each chunk, collected from facts in the order of the chunks.

    The names of its attributes are part of saved runs (see `Collector`). `reading` tells which
    letters of a name count (see `NAME_READINGS`).
    """

    def __init__(self, reading: str):
        self.reading = reading
        self.keys, self.names = TextIds(), TextIds()  # folded names, and their spellings
        self.spelled = NumberColumns("iii")  # mentions: folded name, its spelling, count
        self.where = NumberColumns("ii")  # places: folded name, row of the chunk

    def add(self, row: int, facts: Facts) -> None:
        """Add the entities of the chunk in a row.

        Parameters
        ----------
        row : row of the chunk; calls come in ascending order of rows.
        facts : its facts.
        """
        for entity in facts.entities:
            if folded := fold_name(entity.name, self.reading):
                key = self.keys.id_of(folded)
                self.spelled.add(key, self.names.id_of(entity.name), entity.times)
                self.where.add(key, row)

    def include(self, other: Mentions, rows: np.ndarray | None = None) -> None:
        """Add the collection of the chunks that follow.

        Parameters
        ----------
        other : a collection with the same settings, over the chunks that follow.
        rows : int64 [chunks of other], the new row of each chunk. None if `other` already has the
            new rows.
        """
        # New number of each number of `other` (see `TextIds.include`).
        keys, names = self.keys.include(other.keys), self.names.include(other.names)
        self.spelled.include(other.spelled, keys, names, None)
        self.where.include(other.where, keys, rows)


class ChunkPairs(NamedTuple):
    """Pairs of chunks that share entities.

    `heads` and `tails` are the nodes of each pair, int32 [pairs]. `shared` is the number of shared
    entities, and `names` holds their numbers in `SharedEntityIndex.names`.
    """

    heads: np.ndarray
    tails: np.ndarray
    shared: np.ndarray
    names: IdLists


@dataclass(frozen=True, eq=False)
class SharedEntityIndex:
    """Index of entities and chunks, for finding chunks that share entities.

    `names` are the entities in order. `rows` holds the rows of the chunks of each entity,
    `entities` the numbers of the entities of each chunk, and `node_of_row` the node of each chunk.
    Chunks with at least `min_shared` entities in common are linked.
    """

    names: list[str]
    rows: IdLists
    entities: IdLists
    node_of_row: np.ndarray
    min_shared: int

    @classmethod
    def from_entities(
        cls, names: list[str], rows: IdLists, node_of_row: np.ndarray, min_shared: int
    ) -> SharedEntityIndex:
        """Return the index of some entities and their chunks.

        Parameters
        ----------
        names : names of the entities.
        rows : rows of the chunks of each entity.
        node_of_row : node of each chunk, int64 [chunks].
        min_shared : fewest entities that two linked chunks share.

        Returns
        -------
        The index, with the entities of each chunk.
        """
        return cls(names, rows, rows.invert(len(node_of_row)), node_of_row, min_shared)

    def pairs(self) -> Iterator[tuple[int, ChunkPairs]]:
        """Yield the linked pairs in batches, each with the number of nodes done.

        A pair leads from the earlier chunk to the later one. Pairs ascend by their nodes.
        """
        row_of_node = np.argsort(self.node_of_row)
        comparisons = np.concatenate([[0], np.cumsum(self.rows.counts[self.entities.ids])])
        # Number of comparisons for all nodes up to and including each.
        compared_rows = np.cumsum(np.diff(comparisons[self.entities.indptr])[row_of_node])
        first = 0
        while first < len(row_of_node):
            before = compared_rows[first - 1] if first else 0
            limit = before + COMPARE_BATCH_ROWS
            end = max(first + 1, int(np.searchsorted(compared_rows, limit, side="right")))
            yield end, self._pairs_of(row_of_node[first:end])
            first = end

    def _pairs_of(self, head_rows: np.ndarray) -> ChunkPairs:
        """Return the pairs of some chunks with later chunks.

        The rows of the chunks are given in the order of their nodes.
        """
        # The arrays have one entry for each entity that a chunk shares with another chunk.
        entities = self.entities.concat_rows(head_rows)
        rows = np.repeat(head_rows, self.entities.counts[head_rows])
        other_rows, counts = self.rows.concat_rows(entities), self.rows.counts[entities]
        rows, entities = np.repeat(rows, counts), np.repeat(entities, counts)
        is_later = other_rows > rows
        heads, tails = self.node_of_row[rows[is_later]], self.node_of_row[other_rows[is_later]]
        entities = entities[is_later]
        order = np.lexsort((entities, tails, heads))
        heads, tails, entities = heads[order], tails[order], entities[order]
        is_new = np.ones(len(heads), bool)
        is_new[1:] = (np.diff(heads) != 0) | (np.diff(tails) != 0)
        starts = np.flatnonzero(is_new)
        names = IdLists(np.append(starts, len(heads)), entities)
        enough = np.flatnonzero(names.counts >= self.min_shared)
        pairs = starts[enough]
        return ChunkPairs(
            heads=heads[pairs].astype(np.int32),
            tails=tails[pairs].astype(np.int32),
            shared=names.counts[enough].astype(np.int32),
            names=names.take(enough),
        )

"""Operators of stage “link” that add edges between entities of similar meaning.

They compare the vectors of names, or of names with types and descriptions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.builds.base import BuildContext, BuildOperator, BuildState
from core.builds.merge.fact_merge import UNNAMED_RELATION
from core.builds.merge.row_pairs import (
    ROW_SEARCH,
    NeighbourIndex,
    recall_sentence,
)
from core.builds.text_vectors import UnitRows, encode_half_vectors
from core.graph.building.text_graph import graph_of_parts
from core.graph.columns import IdLists, Table
from core.graph.order import top_k
from core.graph.store import Graph
from core.graph.texts import chunks_of, node_labels
from core.parameters import param

EdgeKey = tuple[int, str, int]  # head, relation, tail
SIMILAR_TO, IDENTITY_DESCRIPTION = "similar to", "is"
COMPARE_BATCH_ENTITIES = 1024  # entities compared with all others in one batch


class SimilarityEdges(BuildOperator):
    """Base class of operators that link entities with similar vectors.

    A graph of fewer than two entities is unchanged.
    """

    stage = "link"
    reads, writes = ("graph",), ("graph",)
    encoder: str

    def models(self) -> tuple[str, ...]:
        return (self.encoder,)

    def apply(self, state: BuildState, ctx: BuildContext) -> BuildState:
        assert state.graph is not None  # a line without a graph is refused
        if state.graph.n_nodes < 2:
            return state
        return state.replace(graph=self.with_similarity_edges(state.graph, ctx))

    def with_similarity_edges(self, graph: Graph, ctx: BuildContext) -> Graph:
        """Return the graph with the edges of this operator added.

        Parameters
        ----------
        graph : a graph of at least two entities.
        ctx : the models, the report and the settings of the build.

        Returns
        -------
        A new graph.

        Raises
        ------
        TypeError : a subclass does not override this method.
        """
        raise TypeError(f"{type(self).__name__} does not say what it joins.")


@dataclass(frozen=True, repr=False)
class AddSynonymEdges(SimilarityEdges):
    """Edges between entities whose names have similar vectors (HippoRAG).

    Each entity is compared with its `top` nearest. An edge is added if the cosine, divided by that
    of the nearest, is at least `threshold`. HippoRAG uses 0.8 and 10. The weight is the cosine.

    `least` is a lower bound of the cosine itself. With the division alone, as in HippoRAG, every
    entity would be linked with at least one other (`kg-synonyms-paper`).
    """

    title = "synonym edges"

    threshold: float = param(
        0.8, "Threshold", "Lowest cosine, as a share of the nearest's.", low=0, high=1
    )
    least: float = param(
        0.8, "Least cosine", "Lowest cosine; 0 uses the share alone.", low=0, high=1
    )
    top: int = param(10, "Nearest", "How many of the nearest are compared.", low=1, high=1000)
    encoder: str = param(
        "encoder", "Encoder", "The role or name of the encoder that reads the names."
    )

    def with_similarity_edges(self, graph: Graph, ctx: BuildContext) -> Graph:
        ctx.watch.report("Reading names", 0.0)
        names = graph.names(range(graph.n_nodes))
        vectors = UnitRows.from_vectors(encode_half_vectors(names, self.encoder, ctx))
        pairs: dict[tuple[int, int], float] = {}
        for node, best, values in nearest_entities(vectors, self.top, ctx):
            for near_node, cosine in zip(best.tolist(), values.tolist()):
                # Entities without any similarity are not linked even if `least` is 0.
                if cosine >= max(self.least, 1e-6) and cosine >= self.threshold * values[0]:
                    pairs[min(node, near_node), max(node, near_node)] = cosine
        ctx.report.counts["synonym edges"] = len(pairs)
        chunks = chunks_of(graph, "nodes")
        edges = {(a, SIMILAR_TO, b): cosine for (a, b), cosine in sorted(pairs.items())}
        return add_edges(graph, edges, lambda a, b: np.union1d(chunks[a], chunks[b]))

    def words(self) -> str:
        return f"synonyms from {self.threshold:g}"


@dataclass(frozen=True, repr=False)
class AddIdentityEdges(SimilarityEdges):
    """Edges with the description “is” between entities with similar vectors (fast-graphrag).

    The vectors are those of name, type and description. An edge is added if (1 + cosine) / 2 is at
    least `threshold`, no relation links the two entities yet, and the entity mentioned later is
    among the `top` nearest of the earlier one. fast-graphrag uses 0.9 and 2.

    The entity whose first chunk comes first counts as mentioned earlier. Within one chunk, the
    alphabetical order of names decides. The original uses the order in which its entities were
    found. The weight of an edge is 1, and it has no chunk.
    """

    title = "“is” edges"

    threshold: float = param(
        0.9, "Threshold", "Lowest (1 + cosine) / 2; 0.9 is a cosine of 0.8.", low=0, high=1
    )
    top: int = param(2, "Nearest", "How many of the nearest are compared.", low=1, high=1000)
    encoder: str = param(
        "encoder", "Encoder", "The role or name of the encoder that reads the entities."
    )

    def with_similarity_edges(self, graph: Graph, ctx: BuildContext) -> Graph:
        ctx.watch.report("Reading entities", 0.0)
        labels = node_labels(graph, range(graph.n_nodes))
        vectors = UnitRows.from_vectors(encode_half_vectors(labels, self.encoder, ctx))
        rank = mention_order(graph)
        pairs = set[tuple[int, int]]()
        for node, best, values in nearest_entities(vectors, self.top, ctx):
            is_near = np.round((1 + values) / 2, 6) >= self.threshold
            later_nodes = best[is_near & (rank[best] > rank[node])]
            pairs.update((min(node, other), max(node, other)) for other in later_nodes.tolist())
        edges = {(a, UNNAMED_RELATION, b): 1.0 for a, b in unlinked_pairs(graph, sorted(pairs))}
        ctx.report.counts["“is” edges"] = len(edges)
        return add_edges(graph, edges, lambda a, b: np.empty(0, np.int64), IDENTITY_DESCRIPTION)

    def words(self) -> str:
        return f"“is” edges from {self.threshold:g}"


def unlinked_pairs(graph: Graph, pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the pairs of nodes that no edge links.

    Parameters
    ----------
    graph : the graph.
    pairs : pairs of node ids, smaller node first.

    Returns
    -------
    Pairs in the same order.
    """
    heads, _, tails = graph.triples(np.arange(graph.n_edges))
    first, second = np.array(pairs, np.int64).reshape(-1, 2).T
    # A pair of nodes as one number.
    linked = np.minimum(heads, tails).astype(np.int64) * graph.n_nodes + np.maximum(heads, tails)
    is_linked = np.isin(first * graph.n_nodes + second, linked)
    return [pair for pair, is_old in zip(pairs, is_linked.tolist()) if not is_old]


def mention_order(graph: Graph) -> np.ndarray:
    """Return the rank of each node by first chunk and name.

    The ranks are int64 [n]. Nodes are ordered by first chunk and then by name. Nodes without chunks
    come last. Nodes are numbered by name, so a stable sort is enough.
    """
    rows = chunks_of(graph, "nodes")
    first = np.array(
        [rows[node].min() if len(rows[node]) else len(rows.ids) for node in range(graph.n_nodes)],
        np.int64,
    )
    rank = np.empty(graph.n_nodes, np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(graph.n_nodes)
    return rank


def nearest_entities(
    vectors: np.ndarray | UnitRows, top: int, ctx: BuildContext
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Yield each entity with the entities of the nearest vectors.

    Parameters
    ----------
    vectors : float [n, d], unit vectors of the entities. More than `ROW_SEARCH.max_exact_rows` are
        searched approximately by HNSW, which is noted in the report.
    top : largest number of nearest entities.
    ctx : the report and the watch of the build.

    Yields
    ------
    An entity, the nearest others, and their cosines, nearest first. The order of entities is 0 to
    n - 1.
    """
    if len(vectors) > ROW_SEARCH.max_exact_rows:
        yield from _nearest_by_index(vectors, top, ctx)
        return
    nodes, limit = np.arange(len(vectors)), min(top, len(vectors) - 1)
    vectors = vectors[:]  # an array also of `UnitRows`
    for first in range(0, len(vectors), COMPARE_BATCH_ENTITIES):
        ctx.watch.check()
        ctx.watch.report("Comparing entities", first / len(vectors))
        scores = np.round(vectors[first : first + COMPARE_BATCH_ENTITIES] @ vectors.T, 6)
        for row, cosines in enumerate(scores, first):
            cosines[row] = -2.0  # not with itself
            yield row, *top_k(nodes, cosines, limit)


def _nearest_by_index(
    vectors: np.ndarray | UnitRows, top: int, ctx: BuildContext
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    index = NeighbourIndex.build(vectors, ctx.watch.part(0.0, 0.5, "Comparing entities"))
    ctx.report.note(recall_sentence(index.recall(top), top))
    for first in range(0, len(vectors), ROW_SEARCH.block_rows):
        ctx.watch.check()
        ctx.watch.report("Comparing entities", (1 + first / len(vectors)) / 2)
        rows = np.arange(first, min(first + ROW_SEARCH.block_rows, len(vectors)))
        yield from index.nearest(rows, top)


def add_edges(
    graph: Graph,
    new_edges: Mapping[EdgeKey, float],
    chunks: Callable[[int, int], np.ndarray],
    description: str = "",
) -> Graph:
    """Return a graph with additional edges; nodes keep their ids.

    Parameters
    ----------
    graph : the graph, which is not changed.
    new_edges : the weight of each new edge.
    chunks : the chunks of a new edge, from its two nodes.
    description : the description of all new edges.

    Returns
    -------
    A new graph.
    """
    n = graph.n_edges
    relations = sorted({*graph.relation_names, *(relation for _, relation, _ in new_edges)})
    id_of_relation = {relation: number for number, relation in enumerate(relations)}
    heads, relation, tails = graph.triples(np.arange(n))
    if n:  # the ids of relations may have moved
        relation = np.array([id_of_relation[name] for name in graph.relation_names])[relation]
    ids = [(head, id_of_relation[name], tail) for head, name, tail in new_edges]
    new_triples = np.array(ids, np.int64).reshape(-1, 3).T
    heads, relation, tails = (
        np.concatenate(parts).astype(np.int32)
        for parts in zip((heads, relation, tails), new_triples)
    )
    order = np.lexsort((tails, relation, heads))
    triples = heads[order], relation[order], tails[order]
    # The new edges get rows with all columns of the table; chunks are inserted separately.
    table = graph.columns.edges or Table.from_columns()
    if table.has_column("chunks"):
        rows = table.id_lists("chunks")
    else:
        rows = IdLists(np.zeros(n + 1, np.int64), np.empty(0, np.int64))
    if not table.has_column("weight"):
        table = table.with_columns(weight=np.ones(n))
    if description and not table.has_column("description"):
        table = table.with_columns(description=[""] * n)
    table = table.drop_column("chunks")
    values: dict[str, list[Any]] = {name: [""] * len(new_edges) for name in table.names}
    values["weight"] = list(new_edges.values())
    if table.has_column("description"):
        values["description"] = [description] * len(new_edges)
    edge_table = table.append_rows(Table.from_columns(**values)).take(order)
    edge_table = edge_table.with_columns(chunks=_insert_chunks(rows, order, triples, chunks))
    return graph_of_parts(
        graph.name,
        graph.names(range(graph.n_nodes)),
        relations,
        triples,
        (graph.columns.nodes, edge_table),
        graph.columns.chunks,
        graph.direction,
    )


def _insert_chunks(
    rows: IdLists,
    order: np.ndarray,
    triples: Sequence[np.ndarray],
    chunks: Callable[[int, int], np.ndarray],
) -> IdLists:
    """Return the chunks of all edges in their new order.

    Old edges keep their order, so those between two new ones are copied in one piece.

    Parameters
    ----------
    rows : the chunks of the old edges.
    order : the numbers of the edges in their new order. Those below `len(rows)` are old.
    triples : the nodes and relations of all edges in the new order.
    chunks : the chunks of a new edge, from its two nodes.
    """
    # The ids of the chunks as bytes of int64, so that they can be appended without copying all.
    ids, counts = bytearray(), np.zeros(len(order), np.int64)
    counts[order < len(rows)] = rows.counts
    new = np.flatnonzero(order >= len(rows))
    n_old_before = new - np.arange(len(new))  # old edges before each new one
    n_copied = 0  # number of old edges copied
    for edge, n_old in zip(new.tolist(), n_old_before.tolist()):
        ids += rows.ids[rows.indptr[n_copied] : rows.indptr[n_old]].tobytes()
        edge_chunks = chunks(int(triples[0][edge]), int(triples[2][edge])).astype(np.int64)
        ids += edge_chunks.tobytes()
        counts[edge] = len(edge_chunks)
        n_copied = n_old
    ids += rows.ids[rows.indptr[n_copied] :].tobytes()
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return IdLists(indptr, np.frombuffer(ids, np.int64))

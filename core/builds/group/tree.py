"""Operator of stage “group” that builds RAPTOR's tree of summaries over the chunks."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from core.builds.base import BuildContext, BuildState, SampledOperator
from core.builds.clustering import (
    CLUSTERING,
    REDUCERS,
    Clusters,
    cluster_balanced,
    cluster_by_mixtures,
)
from core.builds.group.summaries import central_sentences, summarise_by_model
from core.builds.model_requests import map_in_parallel
from core.builds.text_vectors import encode_unit_vectors
from core.graph.building.text_graph import assemble
from core.graph.columns import Table
from core.graph.store import Graph
from core.models.chat.token_estimates import estimate_text_tokens
from core.parameters import param
from core.types import Usage

SUMMARISES = "summarises"  # relation of a summary to the texts below it
EMPTY_SUMMARY_NOTE = (
    "A summary came back empty; the sentences nearest to the mean stand in its place."
)


@dataclass(frozen=True)
class SummaryTreeDefaults:
    """Expected cost and limits of a tree of summaries."""

    summaries_per_chunk: float = 0.2  # expected
    tokens_read_per_summary: int = 1160
    tokens_written_per_length: float = 1.4  # per token of a summary's length
    max_top_nodes: int = 11  # a layer of at most so many nodes is the last
    max_split_depth: int = 20  # times that a cluster with too long texts is split
    # chunks up to which every number of components of a mixture is tried
    max_exhaustive_chunks: int = 20_000
    kmeans_cluster_chunks: int = 10  # mean size of a cluster of balanced k-means


SUMMARY_TREE = SummaryTreeDefaults()


@dataclass(frozen=True, repr=False)
class Tree(SampledOperator):
    """The tree of RAPTOR, with the chunks as leaves.

    The texts of each layer are clustered by their vectors. Each cluster is summarised in a node of
    the next layer. This is repeated for `layers` layers, or until a layer has 11 nodes or fewer.
    The tree also ends before a layer that would have as many nodes as the one below, or more;
    RAPTOR's code continues there.

    A cluster of a single text is summarised too, as in RAPTOR's code. Section 4 of the in-depth
    analysis summarises only clusters of more than two texts, and clusters the other texts again in
    the next layer. This corresponds to `fewest` 3, the setting of `tree-paper`.

    A cluster whose texts exceed `longest` tokens is clustered again by itself. Summaries are
    written by a language model. With `summaries` “extractive” they are the sentences nearest to the
    mean vector of the cluster's sentences. Edges run from a summary to the texts that it
    summarises.
    """

    stage = "group"
    title = "a tree of summaries"
    reads, writes = ("chunks",), ("graph",)
    draws = True
    edition = 2

    clusters: str = param(
        "mixture",
        "Clusters",
        "Gaussian mixtures, or balanced k-means (RAPTOR-K).",
        choices=("mixture", "k-means"),
    )
    reducer: str = param(
        "pca",
        "Dimensions by",
        "How the mixtures' vectors are reduced to few dimensions.",
        choices=REDUCERS,
    )
    summaries: str = param(
        "llm",
        "Summaries",
        "Written by a language model, or taken from the texts.",
        choices=("llm", "extractive"),
    )
    length: int = param(
        100, "Tokens of a summary", "Approximate length of a summary.", low=10, high=2000
    )
    layers: int = param(5, "Layers", "Most layers of summaries.", low=1, high=20)
    fewest: int = param(
        1,
        "Fewest texts",
        "Texts in smaller clusters get no summary and are clustered again in the next layer.",
        low=1,
        high=100,
    )
    longest: int = param(
        3500,
        "Longest cluster",
        "Most tokens of the texts of a cluster.",
        low=100,
        high=1_000_000,
    )
    model: str = param("answer", "Model", "The language model that summarises.", chat=True)
    encoder: str = param(
        "encoder", "Encoder", "The role or name of the encoder whose vectors are clustered."
    )

    def models(self) -> tuple[str, ...]:
        return (self.encoder, self.model) if self.summaries == "llm" else (self.encoder,)

    def later_cost_sentence(self) -> str:
        if self.summaries == "llm":
            return "The model sums up clusters of chunks, about one for five chunks"
        return ""

    def expected_usage(self, chunks: int) -> Usage:
        """Return the usage, estimated from the mean of shipped corpora.

        These corpora ship with such trees. Their 183, 602 and 1,067 chunks gave 26, 117 and 261
        summaries.
        """
        if self.summaries != "llm" or chunks <= SUMMARY_TREE.max_top_nodes:
            return Usage()
        calls = math.ceil(SUMMARY_TREE.summaries_per_chunk * chunks)
        tokens_written = round(SUMMARY_TREE.tokens_written_per_length * self.length)
        return Usage(calls, SUMMARY_TREE.tokens_read_per_summary * calls, tokens_written * calls)

    def apply(self, state: BuildState, ctx: BuildContext) -> BuildState:
        assert state.chunks is not None  # a line without chunks is refused
        tree = GrowingTree(state.chunks)
        layer = np.arange(len(state.chunks))  # nodes of the present layer
        for level in range(1, self.layers + 1):
            if len(layer) <= SUMMARY_TREE.max_top_nodes:
                break
            ctx.watch.report(f"Layer {level} of the tree", (level - 1) / self.layers)
            texts = [tree.texts[node] for node in layer]
            sizes = [tree.sizes[node] for node in layer]
            search_count = len(state.chunks) > SUMMARY_TREE.max_exhaustive_chunks
            layer_clusters = self._layer_clusters(texts, sizes, ctx, search_count)
            clusters = [layer[rows] for rows in layer_clusters if len(rows) >= self.fewest]
            deferred = layer[:0]  # nodes that are clustered again in the next layer
            if self.fewest > 1:
                # The empty array makes a result without clusters possible.
                deferred = np.setdiff1d(layer, np.concatenate([*clusters, deferred]))
            if not clusters or len(clusters) + len(deferred) >= len(layer):
                break
            cluster_texts = [[tree.texts[node] for node in cluster] for cluster in clusters]
            summaries = tree.add_layer(level, clusters, self._summarise(cluster_texts, ctx))
            layer = np.concatenate([deferred, summaries])
        ctx.report.counts["summaries"] = len(tree.texts) - len(state.chunks)
        return state.replace(graph=tree.to_graph(state.corpus.name))

    def words(self) -> str:
        origin = "by a language model" if self.summaries == "llm" else "of central sentences"
        return f"a tree of summaries, {origin}"

    def _layer_clusters(
        self, texts: list[str], sizes: list[int], ctx: BuildContext, search_count: bool
    ) -> Clusters:
        """Return the clusters of a layer: those that ship with the corpus, or new ones.

        The shipped ones are found by the texts, and by the settings in `method`.
        """
        kind = self.clusters
        if kind == "mixture":
            kind += f" of regularisation {CLUSTERING.regularisation}"
        method = f"{kind} {self.reducer} {self.longest} {self.encoder}"
        if search_count:
            method += " sought"
        if self.seed:
            method += f" of seed {self.seed}"

        def new_clusters() -> Clusters:
            vectors = encode_unit_vectors(texts, self.encoder, ctx)
            return self._cluster_vectors(vectors, sizes, ctx, search_count)

        return ctx.clusters.find_or_make(method, texts, new_clusters)

    def _summarise(self, groups: list[list[str]], ctx: BuildContext) -> list[str]:
        """Return the summary of each group of texts. Empty replies are replaced by sentences."""
        if self.summaries == "extractive":
            return central_sentences(groups, self.length, self.encoder, ctx)

        def summarise(texts: list[str]) -> str:
            return summarise_by_model(texts, self.length, self.model, ctx, **self.sampling)

        summaries = dict(map_in_parallel(summarise, groups, self.model, ctx))
        empty = [number for number, text in summaries.items() if not text]
        if empty:
            ctx.report.count(**{"unread summaries": len(empty)})
            ctx.report.note(EMPTY_SUMMARY_NOTE)
            texts = [groups[number] for number in empty]
            replacements = central_sentences(texts, self.length, self.encoder, ctx)
            summaries |= dict(zip(empty, replacements))
        return [summaries[number] for number in range(len(groups))]

    def _cluster_vectors(
        self,
        vectors: np.ndarray,
        sizes: list[int],
        ctx: BuildContext,
        search_count: bool,
        depth: int = 0,
    ) -> Clusters:
        """Return the clusters of vectors, and cluster those with too many tokens again.

        `sizes` are the tokens of each text. `depth` counts how often this part was clustered
        before.
        """
        if self.clusters == "k-means":
            size = SUMMARY_TREE.kmeans_cluster_chunks
            clusters = cluster_balanced(vectors, size, ctx.watch, self.seed)
        else:
            settings = (self.reducer, ctx.watch, search_count, self.seed)
            clusters = cluster_by_mixtures(vectors, *settings)
        result: Clusters = []
        for cluster in clusters:
            cluster_sizes = [sizes[index] for index in cluster]
            if sum(cluster_sizes) <= self.longest or len(cluster) < 3:
                result.append(cluster)
            # The vectors do not divide it any further.
            elif depth >= SUMMARY_TREE.max_split_depth or len(cluster) == len(vectors):
                result += split_cluster(cluster, sizes, self.longest)
            else:
                inner_clusters = self._cluster_vectors(
                    vectors[cluster], cluster_sizes, ctx, search_count, depth + 1
                )
                result += [cluster[inner] for inner in inner_clusters]
        return result


def split_cluster(cluster: np.ndarray, sizes: list[int], limit: int) -> Clusters:
    """Split a cluster into runs of limited size, in the order of its positions.

    Parameters
    ----------
    cluster : positions of texts, int64.
    sizes : tokens of all texts.
    limit : largest number of tokens of a run; a longer text is a run of its own.

    Returns
    -------
    Positions of each run, int64.

    Examples
    --------
    >>> import numpy as np
    >>> from core.builds.group.tree import split_cluster
    >>> [one.tolist() for one in split_cluster(np.array([0, 2, 3, 5]), [4, 9, 4, 4, 9, 20], 8)]
    [[0, 2], [3], [5]]
    """
    runs: list[list[int]] = [[]]
    for position in cluster.tolist():
        if runs[-1] and sum(sizes[text] for text in runs[-1]) + sizes[position] > limit:
            runs.append([])
        runs[-1].append(position)
    return [np.array(run, np.int64) for run in runs]


@dataclass
class GrowingTree:
    """A growing tree of chunks and summaries. The nodes are numbered from 0, chunks first."""

    chunks: Table
    texts: list[str] = field(init=False)  # of each node, as all lists below
    sizes: list[int] = field(init=False)  # estimated tokens
    levels: list[int] = field(init=False)  # 0 for chunks
    rows: list[list[int]] = field(init=False)  # rows of the chunks below the node
    children: list[list[int]] = field(init=False)  # nodes that it summarises
    names: list[str] = field(init=False)

    def __post_init__(self) -> None:
        n = len(self.chunks)
        self.texts, self.names = self.chunks.texts("text"), self.chunks.texts("id")
        self.sizes = list(map(estimate_text_tokens, self.texts))
        self.levels = [0] * n
        self.children = [[] for _ in range(n)]
        self.rows = [[row] for row in range(n)]

    def add_layer(self, level: int, clusters: Clusters, texts: list[str]) -> np.ndarray:
        """Add the summaries of a layer, and return their nodes.

        Parameters
        ----------
        level : number of the layer, from 1.
        clusters : nodes of each cluster.
        texts : summary of each cluster.

        Returns
        -------
        Nodes of the summaries, int64.
        """
        first, taken_names = len(self.texts), set(self.names)
        for number, (cluster, text) in enumerate(zip(clusters, texts), 1):
            name = f"Summary {level}.{number}"
            while name in taken_names:  # the id of a chunk may have this form
                name += "'"
            self.names.append(name)
            self.texts.append(text)
            self.sizes.append(estimate_text_tokens(text))
            self.levels.append(level)
            self.children.append(cluster.tolist())
            self.rows.append(
                sorted({row for child in cluster.tolist() for row in self.rows[child]})
            )
        return np.arange(first, len(self.texts))

    def to_graph(self, name: str) -> Graph:
        """Return the tree as a graph.

        Edges lead from summaries to the texts that they summarise.
        """
        triples: list[tuple[str, str, str]] = []
        edge_chunks: list[list[int]] = []
        for parent, children in zip(self.names, self.children):
            triples += [(parent, SUMMARISES, self.names[child]) for child in children]
            edge_chunks += [self.rows[child] for child in children]
        nodes: dict[str, list[Any]] = {
            "type": ["summary" if level else "chunk" for level in self.levels],
            "description": [text if level else "" for text, level in zip(self.texts, self.levels)],
            "level": self.levels,
            "chunks": self.rows,
        }
        edges: dict[str, list[Any]] = {"weight": [1.0] * len(triples), "chunks": edge_chunks}
        return assemble(name, self.names, triples, nodes, edges, self.chunks)

"""Single triples chosen by a trained scorer (SubgraphRAG)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from core.datasets.relations import relation_words
from core.graph.algorithms.directional import directional_distances
from core.graph.order import top_k
from core.indexes.vectors import open_vectors, vector_folder
from core.models.triple_scorer import load_triple_scorer
from core.operators.base import Context, Operator, Recorder
from core.operators.retrieve.chains import subgraph_of_paths
from core.operators.retrieve.triples import paths_of_triples
from core.parameters import param
from core.types import State, Subgraph, Usage


@dataclass(frozen=True, repr=False)
class ScoredTriples(Operator):
    """The `keep` triples of the subgraph that a small network scores best.

    They are paths of one step. This is SubgraphRAG (ICLR 2025), with which Walk&Retrieve compares
    itself. The network reads the vectors of question, head, relation and tail. For both ends it
    also reads if they are question entities, and their distances from these along and against the
    triples (directional distance encoding, two rounds in each direction). All triples of the
    subgraph are scored together. Paths are ordered by (-likelihood, edge).

    The shipped network was trained on MetaQA's development questions with MiniLM instead of
    gte-large; `hopscope finetune triples` trains another.

    >>> # the shipped network reads only MiniLM's vectors
    >>> answers("EgoNetwork() >> ScoredTriples()", "A", models=scores({}))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    core.errors.BadInput: The triple scorer reads vectors of 384 numbers; ... Train one for it.
    """

    stage = "retrieve"
    title = "scored triples"
    plain = "takes the {keep:,} likeliest triples"
    reads, writes = ("seeds", "subgraph"), ("subgraph", "paths")
    has_untargeted_paths = True

    keep: int = param(100, "Keep", "How many triples are kept.", low=1, high=100_000)
    encoder: str = param(
        "encoder", "Encoder", "The sentence encoder that the scorer was trained with.", model=True
    )

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        scorer = load_triple_scorer()
        subgraph = state.subgraph
        assert subgraph is not None
        ctx.watch.report(f"Scoring {len(subgraph.edges):,} triples")
        vectors = NameVectors(ctx, self.encoder, recorder)
        features = triple_features(ctx.graph, subgraph, state.seeds, state.question.text, vectors)
        likelihoods = np.round(scorer.scores(*features), 5)
        edges, scores = top_k(subgraph.edges, likelihoods, self.keep)
        selected = paths_of_triples(ctx.graph, edges, scores)
        return state.replace(paths=selected, subgraph=subgraph_of_paths(state.seeds, selected))

    def stamp(self, graph: Any, environment: Any) -> str:
        # the sum of the weights tells one trained network from another
        return str(float(sum(np.abs(part).sum() for part in load_triple_scorer().weights.values())))

    def words(self) -> str:
        return f"{self.keep:,} likeliest triples"


@dataclass(frozen=True)
class NameVectors:
    """Vectors of names: from the graph's index if that stores them uncompressed, else encoded."""

    ctx: Context
    encoder: str
    recorder: Recorder

    def node_vectors(self, nodes: np.ndarray) -> np.ndarray:
        """Return the vectors of nodes' names, float32 [n, d]."""
        encoder = self.ctx.models.encoder(self.encoder)
        index = open_vectors(vector_folder(self.ctx.graph, encoder, "nodes"))
        if index is not None and index.is_exact:
            return index.index.reconstruct_batch(nodes.astype(np.int64))
        return self.text_vectors(self.ctx.graph.names(nodes))

    def text_vectors(self, texts: list[str]) -> np.ndarray:
        """Return the vectors of texts, float32 [n, d]."""
        self.recorder.usage += Usage(texts=len(texts))
        return self.ctx.models.encoder(self.encoder).encode(texts, self.ctx.watch)


def triple_features(
    graph: Any, subgraph: Subgraph, seeds: tuple[int, ...], question: str, name_vectors: Any
) -> tuple[Any, ...]:
    """Return the arguments of `TripleScorer.scores` for the triples of a subgraph.

    `name_vectors` is a `NameVectors` or has the same methods.
    """
    heads, relations, tails = graph.triples(subgraph.edges)
    nodes, node_rows = np.unique(
        np.concatenate([heads, tails, np.asarray(seeds, np.int64)]), return_inverse=True
    )
    relation_kinds, relation_rows = np.unique(relations, return_inverse=True)
    head_rows, tail_rows, _ = np.split(node_rows, [len(heads), 2 * len(heads)])
    distances = directional_distances(head_rows, tail_rows, np.isin(nodes, seeds))
    relation_texts = [relation_words(graph.relation_names[kind]) for kind in relation_kinds]
    # the question is encoded with the relations, in one call
    vectors = name_vectors.text_vectors([question, *relation_texts])
    rows = (head_rows, relation_rows, tail_rows)
    return vectors[0], name_vectors.node_vectors(nodes), vectors[1:], distances, rows

"""Path retrieval of single triples by a trained scorer that reads them and where they lie (SubgraphRAG)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from core.datasets.relations import relation_words
from core.graph.algorithms.directional import directional_distances
from core.graph.order import top_k
from core.indexes.vectors import opened, place
from core.models.triple_scorer import triple_scorer
from core.operators.base import Context, Operator, Recorder
from core.operators.retrieve.chains import touched
from core.parameters import param
from core.types import Path, Ranking, State, Subgraph, Usage


@dataclass(frozen=True, repr=False)
class ScoredTriples(Operator):
    """The `keep` triples of the subgraph that a small network finds likeliest to lead to the answer, as paths of one step.

    SubgraphRAG (ICLR 2025), as Walk&Retrieve compares with it: the network reads the vectors of question, head, relation and tail, and
    for both ends whether they are entities of the question and how these lie to them along and against the triples (directional distance
    encoding, two rounds each way). The shipped one was trained on MetaQA's development questions with MiniLM in the place of
    gte-large; `python -m core finetune triples` trains another. All triples of the subgraph are scored at once; paths come by
    (-likelihood, edge).

    >>> answers("EgoNetwork() >> ScoredTriples()", "A", models=scores({}))  # the shipped one reads MiniLM's vectors only
    Traceback (most recent call last):
    core.errors.BadInput: The triple scorer reads vectors of 384 numbers; this encoder's have 512. Train one for it.
    """

    stage = "retrieve"
    title = "scored triples"
    plain = "takes the {keep:,} likeliest triples"
    reads, writes = ("seeds", "subgraph"), ("subgraph", "paths")
    wanders = True

    keep: int = param(100, "Keep", "How many triples are kept.", low=1, high=100_000)
    encoder: str = param(
        "encoder", "Encoder", "The sentence encoder that the scorer was trained with.", model=True
    )

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        subgraph, scorer = state.subgraph, triple_scorer()
        assert subgraph is not None  # a line that lacks it is refused
        ctx.watch.report(f"Scoring {len(subgraph.edges):,} triples")
        read = Vectors(ctx, self.encoder, recorder)
        features = triple_features(ctx.graph, subgraph, state.seeds, state.question.text, read)
        likely = np.round(scorer.scores(*features), 5)
        edges, scores = top_k(subgraph.edges, likely, self.keep)
        heads, _, tails = ctx.graph.triples(edges)
        paths = tuple(
            Path((h, t), (e,), (True,))
            for h, t, e in zip(heads.tolist(), tails.tolist(), edges.tolist())
        )
        selected = Ranking("path", paths, tuple(scores.tolist()))
        return state.replace(paths=selected, subgraph=touched(state.seeds, selected))

    def stamp(self, graph: Any, environment: Any) -> str:
        return str(float(sum(np.abs(part).sum() for part in triple_scorer().weights.values())))

    def words(self) -> str:
        return f"{self.keep:,} likeliest triples"


@dataclass(frozen=True)
class Vectors:
    """Vectors of names: those that the graph's index has, else encoded on the spot."""

    ctx: Context
    encoder: str
    recorder: Recorder

    def nodes(self, nodes: np.ndarray) -> np.ndarray:
        """float32 [n, d]: of nodes' names."""
        encoder = self.ctx.models.encoder(self.encoder)
        index = opened(place(self.ctx.graph, encoder, "nodes"))
        if index is not None and index.exact:
            return index.index.reconstruct_batch(nodes.astype(np.int64))
        return self.texts(self.ctx.graph.names(nodes))

    def texts(self, texts: list[str]) -> np.ndarray:
        """float32 [n, d]: of texts."""
        self.recorder.usage += Usage(texts=len(texts))
        return self.ctx.models.encoder(self.encoder).encode(texts, self.ctx.watch)


def triple_features(
    graph: Any, subgraph: Subgraph, seeds: tuple[int, ...], question: str, read: Any
) -> tuple[Any, ...]:
    """What `TripleScorer.scores` reads of the triples of a subgraph; `read` gives vectors of nodes and of texts."""
    heads, relations, tails = graph.triples(subgraph.edges)
    nodes, ends = np.unique(
        np.concatenate([heads, tails, np.asarray(seeds, np.int64)]), return_inverse=True
    )
    kinds, which = np.unique(relations, return_inverse=True)
    heads, tails = ends[: len(heads)], ends[len(heads) : 2 * len(heads)]
    places = directional_distances(heads, tails, np.isin(nodes, seeds))
    relation_texts = [relation_words(graph.relation_names[kind]) for kind in kinds]
    words = read.texts([question, *relation_texts])
    return words[0], read.nodes(nodes), words[1:], places, (heads, which, tails)

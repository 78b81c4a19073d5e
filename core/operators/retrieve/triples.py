"""Retrieval of single triples: drawn at the entities, or nearest to the question."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.graph.algorithms.neighbourhood import seed_array
from core.graph.protocol import KnowledgeGraph
from core.indexes.vectors import vector_index
from core.models.base import question_vectors
from core.operators.base import DIRECTIONS, Context, Operator, Recorder
from core.operators.extract import DIRECTION_HELP
from core.operators.retrieve.chains import subgraph_of_paths
from core.parameters import param
from core.types import Path, Ranking, State, Usage


@dataclass(frozen=True, repr=False)
class DrawnTriples(Operator):
    """`keep` of the triples at the question entities, drawn uniformly without replacement.

    Each triple is a path of one step from the entity. This is the baseline Vanilla RAG of
    Walk&Retrieve (section 3, after Sen et al. 2023): five triples of all one-hop facts of the
    question's entities.

    >>> sorted(answers("DrawnTriples(keep=2, direction='out')", "A"))  # all that lead from A
    ['A -> r0 -> B', 'A -> r1 -> C']
    """

    stage = "retrieve"
    title = "triples drawn at the entities"
    plain = "draws {keep} triples at the entities"
    reads, writes = ("seeds",), ("subgraph", "paths")
    is_random = True

    keep: int = param(5, "Keep", "How many triples are drawn.", low=1, high=10_000)
    direction: str = param("both", "Direction", DIRECTION_HELP, choices=DIRECTIONS)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        path_by_edge: dict[int, Path] = {}
        for seed in seed_array(ctx.graph, state.seeds).tolist():
            steps = ctx.graph.steps(seed, ctx.graph.resolve(self.direction))
            for node, edge, is_forward in zip(*(column.tolist() for column in steps)):
                path_by_edge.setdefault(edge, Path((seed, node), (edge,), (is_forward,)))
        paths = [path_by_edge[edge] for edge in sorted(path_by_edge)]
        sample = ctx.rng(state.question.text, self).permutation(len(paths))[: self.keep]
        recorder.notes.append(f"Drawn from {len(paths):,} triples at the question's entities.")
        # drawn triples have no order, so their scores are equal
        selected = Ranking("path", tuple(paths[i] for i in sample), (0.0,) * len(sample))
        return state.replace(paths=selected, subgraph=subgraph_of_paths(state.seeds, selected))

    def words(self) -> str:
        return f"{self.keep} triples drawn at the entities"


@dataclass(frozen=True, repr=False)
class NearestTriples(Operator):
    """The `keep` triples of the whole graph whose vectors are nearest to the question's.

    They are paths of one step, ordered by (-cosine, edge). The question entities are ignored. The
    published code of Walk&Retrieve does this for Vanilla RAG, while the paper draws triples at the
    question entities. StoreError is raised if the triples of a large graph are not encoded yet.

    >>> answers("NearestTriples(keep=1)", question="E r5 A", models=scores({}))
    ['E -> r5 -> A']
    """

    stage = "retrieve"
    title = "nearest triples"
    plain = "takes the {keep} triples closest in meaning"
    writes = ("subgraph", "paths")
    has_untargeted_paths = True

    keep: int = param(3, "Keep", "How many triples are taken.", low=1, high=10_000)
    encoder: str = param(
        "encoder",
        "Encoder",
        "The sentence encoder that reads the question and the triples.",
        model=True,
    )

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        encoder = ctx.models.encoder(self.encoder)
        index = vector_index(ctx.graph, encoder, "triples", ctx.watch)
        question = question_vectors(encoder, [state.question.text], ctx.watch)[0]
        edges, scores = index.nearest(question, self.keep)
        recorder.usage += Usage(texts=1)
        selected = paths_of_triples(ctx.graph, edges, scores)
        return state.replace(paths=selected, subgraph=subgraph_of_paths(state.seeds, selected))

    def words(self) -> str:
        return f"the {self.keep} nearest triples"


def paths_of_triples(graph: KnowledgeGraph, edges: np.ndarray, scores: np.ndarray) -> Ranking:
    """Return each triple as a path of one step, with its score.

    The step leads from its head to its tail.
    """
    heads, _, tails = graph.triples(np.asarray(edges, np.int64))
    rows = zip(heads.tolist(), tails.tolist(), edges.tolist())
    paths = tuple(Path((head, tail), (edge,), (True,)) for head, tail, edge in rows)
    return Ranking("path", paths, tuple(scores.tolist()))

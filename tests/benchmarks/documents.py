"""Retrieval from documents: seconds per question without the encoder, on a synthetic graph.

The graph has 6,000 chunks and 40,000 entities.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time

import numpy as np

from core.comparison.lane_run import LaneListener, LaneRun, PrefixCache
from core.environment import Environment
from core.graph.building.text_graph import assemble, store_graph, with_tables
from core.graph.columns import Table
from core.graph.store import Graph
from core.methods.catalogue import catalogue
from core.sources import CorpusSource, SourceQuestion
from core.types import Question
from core.watch import NO_WATCH
from tests.films import Written

METHODS = ("vanilla-rag", "vgraphrag", "lgraphrag")
CHUNKS, NODES, EDGES, COMMUNITIES, WORDS = 6_000, 40_000, 130_000, 4_000, 8_000
LIMIT, QUESTIONS, SIZE = 0.1, 20, 384


class RandomVectors:
    """An encoder that draws a random vector for each text, at almost no cost."""

    def encode(self, texts, watch=NO_WATCH):
        seeds = [
            np.frombuffer(text.encode()[:400].ljust(8), np.uint8).astype(np.uint64).sum()
            + len(text)
            for text in texts
        ]
        vectors = np.stack(
            [np.random.default_rng(int(seed)).standard_normal(SIZE) for seed in seeds]
        ).astype(np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


class RandomVectorModels(Written):
    """Models with that encoder, and a language model that is never asked."""

    def encoder(self, name="encoder"):
        return RandomVectors()


def synthetic_graph(rng: np.random.Generator) -> Graph:
    """A graph with skewed degrees: a few entities have very many relations, as in texts."""
    words = np.array([f"word{i}" for i in range(WORDS)])
    text = lambda n: " ".join(words[rng.zipf(1.3, n) % WORDS])
    names = [f"Entity {i}" for i in range(NODES)]
    drawn = rng.zipf(1.4, (3 * EDGES, 2)) - 1 + rng.integers(0, NODES, (3 * EDGES, 2)) // 3
    ends = np.unique(np.sort(np.minimum(drawn, NODES - 1)), axis=0)
    ends = rng.permutation(ends[ends[:, 0] != ends[:, 1]])[:EDGES]
    triples = [(names[a], "related to", names[b]) for a, b in ends.tolist()]
    chunks = lambda most: rng.integers(0, CHUNKS, rng.integers(1, most)).tolist()
    nodes = {
        "type": [""] * NODES,
        "description": [text(20) for _ in names],
        "chunks": [sorted(set(chunks(6))) for _ in names],
    }
    edges = {
        "description": [text(15) for _ in triples],
        "weight": rng.integers(1, 9, len(triples)).astype(float).tolist(),
    }
    edges["chunks"] = [sorted(set(chunks(3))) for _ in triples]
    ids = [f"document-{i}" for i in range(CHUNKS)]
    table = Table.from_columns(id=ids, document=ids, title=ids, text=[text(200) for _ in ids])
    members = np.array_split(rng.permutation(NODES), COMMUNITIES)
    groups = Table.from_columns(
        level=[0] * COMMUNITIES,
        title=[f"Community {i}" for i in range(COMMUNITIES)],
        report=[text(100) for _ in members],
        rating=rng.integers(0, 10, COMMUNITIES).astype(float).tolist(),
        members=[sorted(one.tolist()) for one in members],
    )
    return with_tables(assemble("made", names, triples, nodes, edges, table), communities=groups)


def run() -> list[dict]:
    """One row per method: the median over all questions but the first, which reads the vectors."""
    with tempfile.TemporaryDirectory() as folder:
        before, os.environ["HOPSCOPE_HOME"] = os.environ.get("HOPSCOPE_HOME"), folder
        try:
            graph = store_graph(synthetic_graph(np.random.default_rng(7)), f"{folder}/made")
            return [_row(graph, name) for name in METHODS]
        finally:
            os.environ.pop("HOPSCOPE_HOME") if before is None else os.environ.__setitem__(
                "HOPSCOPE_HOME", before
            )


def _row(graph: Graph, name: str) -> dict:
    environment, seconds = Environment(RandomVectorModels(), open_build=lambda *_: graph), []
    method = catalogue()[name]
    for number in range(QUESTIONS + 1):
        ask = SourceQuestion(
            CorpusSource("made", graph),
            Question(f"what is told of number {number}"),
            (),
            uses_model=False,
            uses_reader=False,
        )
        lane = LaneRun(ask, method.line, environment, PrefixCache())
        start = time.perf_counter()
        lane.retrieve(LaneListener())
        lane.answer(LaneListener())
        seconds.append(time.perf_counter() - start)
    spread = f"{min(seconds[1:]):.3f} to {max(seconds[1:]):.3f}; limit {LIMIT} s"
    note = f"median of {QUESTIONS} questions on {CHUNKS:,} chunks and {NODES:,} entities, {spread}"
    return {
        "name": f"documents {method.name}",
        "value": statistics.median(seconds[1:]),
        "unit": "s",
        "note": note,
    }

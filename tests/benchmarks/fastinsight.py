"""FastInsight's own time without reranker and encoder: 100,000 documents, budget 100."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from core.environment import Environment
from core.graph.building.text_graph import assemble, store_graph
from core.graph.columns import Table
from core.graph.store import Graph
from core.methods.catalogue import catalogue
from core.models.heads import Head
from core.operators.base import Context
from core.types import Question, State
from tests.benchmarks.documents import RandomVectors
from tests.films import Written

NODES, LINKS = 100_000, 800_000
LIMIT, QUESTIONS = 0.005, 40


class TimedHead(Head):
    """A head that counts its processor seconds as the reranker's."""

    def apply_first_weights(self, hidden: np.ndarray) -> tuple[np.ndarray, Head]:
        start = time.process_time()
        found = super().apply_first_weights(hidden)
        RandomStateReranker.spent += time.process_time() - start
        return found

    def __call__(self, hidden: np.ndarray) -> np.ndarray:
        start = time.process_time()
        scores = super().__call__(hidden)
        RandomStateReranker.spent += time.process_time() - start
        return scores


class RandomStateReranker:
    """A reranker with random hidden states and the dimensions of bge-reranker-v2-m3.

    It has 1,024 hidden numbers per text and a head of the same shape.
    """

    spent = 0.0  # Processor seconds of reading.

    def __init__(self) -> None:
        rng = np.random.default_rng(1)
        self.head = TimedHead(
            (
                (rng.normal(0, 0.03, (1024, 1024)), np.zeros(1024)),
                (rng.normal(0, 0.03, (1, 1024)), np.zeros(1)),
            )
        )

    def hidden(self, task, texts):
        start = time.process_time()
        seeds = [len(text) + sum(map(ord, text[-9:])) for text in texts]
        found = np.stack(
            [np.random.default_rng(seed).standard_normal(1024) for seed in seeds]
        ).astype(np.float32)
        RandomStateReranker.spent += time.process_time() - start
        return found


class RandomStateModels(Written):
    """Models with that reranker, and an encoder that draws random vectors."""

    _drawn, reranker = RandomVectors(), RandomStateReranker()

    def encoder(self, name="encoder"):
        return self._drawn

    def chooser(self, expression):
        return self.reranker


def citation_graph(rng: np.random.Generator) -> Graph:
    """A citation network with skewed degrees: most documents have few links, some thousands."""
    names = [f"document {i}" for i in range(NODES)]
    ends = np.minimum(
        rng.zipf(1.5, (2 * LINKS, 2)) - 1 + rng.integers(0, NODES, (2 * LINKS, 2)), NODES - 1
    )
    ends = np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]]), axis=0)
    ends = rng.permutation(ends)[:LINKS]
    triples = [(names[a], "links to", names[b]) for a, b in ends.tolist()]
    chunks = Table.from_columns(id=names, document=names, title=[""] * NODES, text=names)
    nodes = {
        "type": ["document"] * NODES,
        "description": [""] * NODES,
        "level": [0] * NODES,
        "chunks": [[row] for row in range(NODES)],
    }
    return assemble("references", names, triples, nodes, {"weight": [1.0] * len(triples)}, chunks)


def run() -> list[dict]:
    """One row: processor seconds per question without encoding, first search, and reranker.

    Arithmetic has one thread, since idle threads spin on a busy machine.
    """
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        before = os.environ.get("HOPSCOPE_HOME")
        os.environ["HOPSCOPE_HOME"] = folder
        try:
            graph = store_graph(citation_graph(np.random.default_rng(0)), Path(folder) / "graph")
            return [_row(graph)]
        finally:
            os.environ.pop("HOPSCOPE_HOME") if before is None else os.environ.__setitem__(
                "HOPSCOPE_HOME", before
            )


def _row(graph: Graph) -> dict:
    context, seconds, searching, found = (
        Context(graph, Environment(RandomStateModels())),
        list[float](),
        list[float](),
        0,
    )
    encode, search, *line = [
        operator
        for operator in catalogue()["fastinsight"].line
        if operator.stage not in ("graph", "generate")
    ]
    for number in range(QUESTIONS + 3):
        state = encode(State(Question(f"what is told of number {number}")), context)
        start = time.process_time()
        state = search(state, context)
        searching.append(time.process_time() - start)
        start, read = time.process_time(), RandomStateReranker.spent
        for operator in line:
            state = operator(state, context)
        seconds.append(time.process_time() - start - (RandomStateReranker.spent - read))
        found = len(state.nodes or ())
    seconds = sorted(seconds[3:])
    note = (
        f"processor seconds, median of {QUESTIONS} questions, {found} read of {NODES:,} documents "
        f"with {LINKS:,} links"
    )
    spread = (
        f"{seconds[0]:.4f} to {seconds[-1]:.4f}; the first search "
        f"{statistics.median(searching):.4f}; limit {LIMIT} s"
    )
    return {
        "name": "fastinsight beside the re-ranker",
        "value": statistics.median(seconds),
        "unit": "s",
        "note": f"{note}, {spread}",
    }

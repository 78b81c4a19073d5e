"""Retrieval without a language model on the movie graph: warm seconds per question and method."""

from __future__ import annotations

import statistics
import time

from core.comparison.lane_run import LaneListener, LaneRun, PrefixCache
from core.engine import Engine
from core.methods.catalogue import catalogue
from core.sources import GraphSource

METHODS = {"lego-1": 0.15, "lego-2": 1.5, "lego-10": 1.5, "lego-12": 1.5, "lego-14": 1.5}
SETS = ("metaqa-1hop-dev", "metaqa-2hop-dev", "metaqa-3hop-dev")
EACH = 12  # Questions of each hop count.


def run() -> list[dict]:
    """One row per method: the median over questions without cached vectors or states."""
    from core.datasets import datasets

    engine, dataset, known = Engine(), datasets()["metaqa"], catalogue()
    graph, encoder = engine.graph("metaqa"), Engine().models.encoder()
    questions = [dataset.draw_question(name, seed) for name in SETS for seed in range(EACH)]
    rows = []
    for key, limit in METHODS.items():
        seconds = []
        for question in questions:
            ask = engine.prepare_question(GraphSource.of(graph), question, uses_model=False)
            encoder.forget()
            lane = LaneRun(ask, known[key].line, engine.environment, PrefixCache())
            start = time.perf_counter()
            lane.retrieve(LaneListener())
            seconds.append(time.perf_counter() - start)
        middle = statistics.median(seconds)
        rows.append(
            {
                "name": f"retrieval {known[key].name}",
                "value": middle,
                "unit": "s",
                "note": (
                    f"median of {len(seconds)} questions, {min(seconds):.2f} to "
                    f"{max(seconds):.2f}; limit {limit} s"
                ),
            }
        )
    return rows

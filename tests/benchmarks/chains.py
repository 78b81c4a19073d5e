"""Chain ranking, case memory and hop prediction on unseen MetaQA questions.

The graph reader answers, so no language model is used. The topic entities are those of the set.
Cases are solved development questions, and the questions are of the test sets.
HOPSCOPE_BENCHMARK_QUESTIONS and HOPSCOPE_BENCHMARK_SEED set the sample.
"""

from __future__ import annotations

import os
import time

import numpy as np

from core.comparison.lane_run import LaneListener, LaneRun, PrefixCache
from core.datasets import questions
from core.diagnosis.funnel import count_right_answers
from core.engine import Engine
from core.evaluation.metrics.statistics import estimates
from core.graph.algorithms.chains import best_chains, ranked_ends, walk_chain
from core.graph.names.lookup import name_lookup
from core.operators.base import Line
from core.operators.retrieve.cases import CaseMemory, PredictHops
from core.operators.retrieve.chains import ChainRanking
from core.sources import GraphSource, SourceQuestion

EACH = int(os.environ.get("HOPSCOPE_BENCHMARK_QUESTIONS", 200))  # Questions of each set.
SEED = int(os.environ.get("HOPSCOPE_BENCHMARK_SEED", 2026))  # Seed of the sample.
SETS = {
    "1 hop": "metaqa-1hop",
    "2 hops": "metaqa-2hop",
    "3 hops": "metaqa-3hop",
    "1 hop, reworded": "metaqa-1hop-ntm",
}
PLAIN = "metaqa-1hop-dev,metaqa-2hop-dev,metaqa-3hop-dev"
REWORDED = f"{PLAIN},metaqa-1hop-ntm-dev"
LINES = {
    "chain ranking": Line((ChainRanking(),)),
    "case memory 1,000": Line((CaseMemory(PLAIN, 1000),)),
    "case memory 100": Line((CaseMemory(PLAIN, 100),)),
    "case memory 1,000, reworded ones too": Line((CaseMemory(REWORDED, 1000),)),
    "case memory 100, reworded ones too": Line((CaseMemory(REWORDED, 100),)),
    "hop prediction 1,000": Line((PredictHops(PLAIN, 1000),)),
    "hop prediction 100": Line((PredictHops(PLAIN, 100),)),
}
AIMS = {
    "chain ranking": {"1 hop": 0.40, "2 hops": 0.65, "3 hops": 0.60},
    "case memory 1,000": {"1 hop": 0.97, "2 hops": 0.97, "3 hops": 0.97},
    "case memory 100": {"1 hop": 0.85, "2 hops": 0.85, "3 hops": 0.85},
    "case memory 1,000, reworded ones too": {"1 hop, reworded": 0.97},
    "case memory 100, reworded ones too": {"1 hop, reworded": 0.85},
}


def run() -> list[dict]:
    """Fraction of right first answers or hop counts, and warm milliseconds, per line and set."""
    engine = Engine()
    graph = engine.graph("metaqa")
    asks = {
        told: [
            engine.prepare_question(GraphSource.of(graph), question, uses_model=False)
            for question in drawn(f"{stem}-test")
        ]
        for told, stem in SETS.items()
    }
    rows = [
        {
            "name": f"the chain that fits the known answers best, {told}",
            "value": float(np.mean(limits)),
            "unit": "hit@1",
            "note": (
                "films of one name are one node, and the known answers are often those of one of "
                "them"
            )
            + _told(limits),
        }
        for told, asked in asks.items()
        for limits in [[_ceiling(graph, ask) for ask in asked]]
    ]
    for name, line in LINES.items():
        for told, asked in asks.items():
            # The first run builds and loads saved files.
            LaneRun(asked[0], line, engine.environment, PrefixCache()).retrieve(LaneListener())
            good, took = zip(*(_timed(engine, ask, line) for ask in asked))
            wall, busy = np.array(took).T * 1e3
            aim = AIMS.get(name, {}).get(told)
            spent = (
                f"median {np.median(wall):.0f} ms on the clock, {np.median(busy):.0f} ms of "
                f"processor time"
            )
            note = f"{len(good)} questions{_told(good)}, {spent}"
            rows.append(
                {
                    "name": f"{name}, {told}",
                    "value": float(np.mean(good)),
                    "unit": "right" if "hop pred" in name else "hit@1",
                    "note": note + (f"; aim {aim}" if aim else ""),
                }
            )
    return rows


def _timed(engine, ask: SourceQuestion, line: Line) -> tuple[bool, tuple[float, float]]:
    """Correctness of the first answer or hop count, and wall-clock and processor seconds."""
    engine.models.encoder().forget()
    lane = LaneRun(ask, line, engine.environment, PrefixCache())
    start = time.perf_counter(), time.process_time()
    lane.retrieve(LaneListener())
    took = time.perf_counter() - start[0], time.process_time() - start[1]
    return _right(ask.source.graph, lane.state), took


def _told(right_ones: list[bool]) -> str:
    """The interval of a fraction, by resampling the questions."""
    (share,) = estimates(np.array(right_ones, float)[:, None])
    return f" [{share.low:.3f}, {share.high:.3f}]"


def _ceiling(graph, ask: SourceQuestion) -> bool:
    """True if the best chain by the known answers has a right first end."""
    goal = {
        node for answer in ask.question.answers for node in name_lookup(graph).find_exact(answer)
    }
    chains, _ = best_chains(graph, ask.seeds, sorted(goal), 3)
    front = walk_chain(graph, ask.seeds, chains[0]) if chains else None
    return front is not None and int(ranked_ends(front, ask.seeds)[0]) in goal


def drawn(name: str) -> list:
    """`EACH` questions of a set, the same in every run."""
    known = questions(name)
    rows = np.random.default_rng(SEED).choice(len(known), min(EACH, len(known)), replace=False)
    return [known[int(row)] for row in rows]


def _right(graph, state) -> bool:
    if state.paths is None:
        return state.hops == state.question.hops
    first = state.replace(reader=state.reader[:1])
    return bool(count_right_answers(graph, first, state.question.answers, reader=True))

"""Hopscope's own chain methods compared with published rows 1, 12 and 14 on all sets.

The graph reader answers, so no language model is used. Each line has the fraction of questions
whose first answer is right, with its interval, and the fraction of answers in the best 32 paths.
Hopscope's own methods also have the paired difference to the best of the three published ones, and
its p after Holm's correction over all rows of the table.

HOPSCOPE_BENCHMARK_QUESTIONS and HOPSCOPE_BENCHMARK_SEED set the sample of each set.
HOPSCOPE_BENCHMARK_SETS holds comma-separated words and selects the sets whose names contain one of
them. The constants of chain intersection and chain votes were chosen on questions whose text has an
even MD5, so only the others are drawn.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator

import numpy as np

from core.comparison.lane_run import LaneListener, LaneRun, PrefixCache
from core.datasets import datasets, questions
from core.diagnosis.funnel import gold_nodes
from core.engine import Engine
from core.errors import HopscopeError
from core.evaluation.metrics.statistics import holm, paired_test
from core.methods.catalogue import catalogue
from core.operators.base import Line
from core.sources import GraphSource, SourceQuestion
from tests.benchmarks.chains import EACH, SEED, _right, _told

# The number of entities of a question; two stands for two or more.
SETS = (
    ("metaqa-1hop-test", 1),
    ("metaqa-2hop-test", 1),
    ("metaqa-3hop-test", 1),
    ("pathquestion-2hop", 1),
    ("pathquestion-3hop", 1),
    ("webqsp-answerable", 1),
    ("cwq-answerable", 1),
    ("cwq-answerable", 2),
)
PUBLISHED, OWN = (
    ("lego-1", "lego-12", "lego-14"),
    ("chain-ranking", "chain-intersection", "chain-votes"),
)
BEST = 32  # Paths, as many as a prompt shows.
ONLY_SETS = tuple(filter(None, os.environ.get("HOPSCOPE_BENCHMARK_SETS", "").split(",")))


def run() -> list[dict]:
    """Fraction of right first answers for every set and line."""
    engine, known, rows = Engine(), catalogue(), []
    for name, entities in (
        pair for pair in SETS if not ONLY_SETS or any(word in pair[0] for word in ONLY_SETS)
    ):
        asks = list(_asks(engine, name, entities))
        # For single entities it is the same as chain ranking.
        lines = PUBLISHED + tuple(
            line for line in OWN if entities > 1 or line != "chain-intersection"
        )
        asked = {
            line: np.array([_run_line(engine, ask, known[line].line) for ask in asks], float)
            for line in lines
        }
        right, kept = ({line: both[:, column] for line, both in asked.items()} for column in (0, 1))
        best = max(PUBLISHED, key=lambda line: right[line].mean())
        for line in lines:
            against = (
                paired_test("hit@1", line, best, right[line], right[best]) if line in OWN else None
            )
            rows.append(
                {
                    "name": f"{known[line].short}, {name}"
                    + (", two entities" if entities > 1 else ""),
                    "value": float(right[line].mean()),
                    "unit": "hit@1",
                    "note": (
                        f"{len(asks)} questions{_told(list(right[line]))}; "
                        f"{kept[line].mean():.3f} of the answers in the best {BEST}"
                    ),
                    "against": (known[best].short, against),
                }
            )
    tested = [row for row in rows if row["against"][1] is not None]
    for row, p in zip(tested, holm([row["against"][1].p for row in tested]), strict=True):
        told, difference = row["against"]
        row["note"] += (
            f"; {difference.difference:+.3f} [{difference.low:+.3f}, {difference.high:+.3f}] "
            f"against {told}, p = {p:.2g}"
        )
    return [{key: value for key, value in row.items() if key != "against"} for row in rows]


def _run_line(engine, ask: SourceQuestion, line: Line) -> tuple[bool, float]:
    """Results of a line, as `found` returns them, with earlier vectors in memory."""
    lane = LaneRun(ask, line, engine.environment, PrefixCache())
    lane.retrieve(LaneListener())
    return found(lane)


def found(lane: LaneRun) -> tuple[bool, float]:
    """Correctness of the first answer, and fraction of known answers on the best `BEST` paths."""
    ask = lane.ask
    nodes = {node for path in lane.state.paths.items[:BEST] for node in path.nodes}
    answers = dict.fromkeys(ask.question.answers)
    graph = ask.source.graph
    return _right(graph, lane.state), float(
        np.mean([not nodes.isdisjoint(gold_nodes(graph, name)) for name in answers])
    )


def _asks(engine, name: str, entities: int, half: int = 1) -> Iterator[SourceQuestion]:
    """`EACH` questions of a set with this many entities, the same in every run.

    Only questions with an odd MD5 are drawn, unless `half` is 0.
    """
    dataset = next(dataset for dataset in datasets().values() if name in dataset.sets)
    fit = [
        question
        for question in questions(name)
        if question.answers and min(2, len(question.entities)) == entities
    ]
    fit = [
        question
        for question in fit
        if int(hashlib.md5(question.text.encode()).hexdigest(), 16) % 2 == half
    ]
    for row in np.random.default_rng(SEED).choice(len(fit), min(EACH, len(fit)), replace=False):
        try:
            yield engine.prepare_question(
                GraphSource.of(engine.graph(dataset.name)), fit[int(row)], uses_model=False
            )
        except HopscopeError:  # The graph lacks an entity.
            continue

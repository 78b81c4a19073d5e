"""Chain ranking with and without the price per surplus step, on every shipped set.

The graph reader answers, so no language model is used. The price was chosen on the questions whose
text has an even MD5, for MetaQA on those of the development sets. The others are asked, for MetaQA
those of the test sets. HOPSCOPE_BENCHMARK_QUESTIONS and HOPSCOPE_BENCHMARK_SEED set the sample of
each set. HOPSCOPE_BENCHMARK_PRICE=0.03,0.06 tries these prices on the half on which it was chosen.
"""

from __future__ import annotations

import os

import numpy as np

from core.comparison.lane_run import LaneListener, LaneRun, PrefixCache
from core.engine import Engine
from core.evaluation.metrics.statistics import holm, paired_test
from core.operators.base import Line
from core.operators.retrieve.chains import ChainRanking
from core.sources import SourceQuestion
from tests.benchmarks.against import BEST, found
from tests.benchmarks.memory import DEVELOPMENT, HELD_OUT, asks

TRIED = tuple(
    float(value) for value in os.environ.get("HOPSCOPE_BENCHMARK_PRICE", "").split(",") if value
)
METAQA = ("metaqa-1hop", "metaqa-2hop", "metaqa-3hop", "metaqa-1hop-ntm")
OTHERS = ("pathquestion-2hop", "pathquestion-3hop", "webqsp-answerable", "cwq-answerable")


def run() -> list[dict]:
    """Fraction of right first answers per set and price, compared with no price."""
    engine, rows, tests = Engine(), [], []
    half, part, prices = (
        (DEVELOPMENT, "dev", TRIED) if TRIED else (HELD_OUT, "test", (ChainRanking().price,))
    )
    for name in (*(f"{name}-{part}" for name in METAQA), *OTHERS):
        here = list(asks(engine, name, half))
        free = _answers(engine, here, 0.0)
        for price in prices:
            dear = _answers(engine, here, price)
            test = paired_test("hit@1", "dear", "free", dear[:, 0], free[:, 0])
            won, lost = int((dear > free)[:, 0].sum()), int((dear < free)[:, 0].sum())
            note = (
                f"{len(here)} questions, without {free[:, 0].mean():.3f}: {won} won, {lost} lost, "
            )
            note += f"{test.difference:+.3f} [{test.low:+.3f}, {test.high:+.3f}], p = {test.p:.2g}"
            kept = f"answers in the best {BEST} {free[:, 1].mean():.3f} and {dear[:, 1].mean():.3f}"
            tests.append(test.p)
            rows.append(
                {
                    "name": f"{name}, price {price:g}",
                    "value": float(dear[:, 0].mean()),
                    "unit": "hit@1",
                    "note": f"{note}; {kept}",
                }
            )
    for row, p in zip(rows, holm(tests), strict=True):
        row["note"] += f"; p over all rows {p:.2g}"
    return rows


def _answers(engine, here: list[SourceQuestion], price: float) -> np.ndarray:
    """Correct first answers, and fractions of known answers in the best paths, float64 [n, 2]."""
    lanes = [
        LaneRun(ask, Line((ChainRanking(price=price),)), engine.environment, PrefixCache())
        for ask in here
    ]
    for lane in lanes:
        lane.retrieve(LaneListener())
    return np.array([found(lane) for lane in lanes], float)

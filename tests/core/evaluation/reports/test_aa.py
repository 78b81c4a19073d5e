"""A/A runs: a method against itself is called different in about 5 of 100 evaluations.

The figures go through `Ranks`, on which the bracket, the ranks and the recommendation rest. With
HOPSCOPE_AA_RUNS=1000 each kind of evaluation is drawn so many times.
"""

from __future__ import annotations

import os
from functools import cache, partial
from typing import NamedTuple

import numpy as np
import pytest

from core.evaluation.metrics import statistics
from core.evaluation.metrics.catalogue import metric
from core.evaluation.metrics.outcome import GoldRanks, Outcome
from core.evaluation.reports.ranks import Ranks
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.store import Run, StoredRow
from core.types import Question

RUNS = int(os.environ.get("HOPSCOPE_AA_RUNS", "0"))
GOLDS = 5  # gold passages of a question with graded values


class Kind(NamedTuple):
    """A kind of evaluation: questions, graded or binary values, runs, and their noise.

    `shift` is the standard deviation of a shift that all questions of a run have in common, in
    log-odds.
    """

    n: int
    is_graded: bool
    runs: int
    shift: float


KINDS = [
    Kind(n, is_graded, runs, shift)
    for n in (20, 50, 100, 200)
    for is_graded in (False, True)
    for runs, shift in ((1, 0.0), (3, 0.0), (3, 0.4), (5, 0.4))
]


@cache
def outcome(found: int, golds: int) -> Outcome:
    ranks = tuple(range(1, found + 1)) + (None,) * (golds - found)
    return Outcome(golds, passages=GoldRanks(golds, ranks[:found], ranks))


def aa_summary(kind: Kind, rng: np.random.Generator, methods: int = 2) -> RunSummary:
    """Methods that are all the same, on questions of different difficulty."""
    golds = GOLDS if kind.is_graded else 1
    difficulty = rng.normal(0.3, 1.5, kind.n)
    keys = "abcd"[:methods]
    questions = [Question("who", str(i), gold=("x",) * golds) for i in range(kind.n)]
    rows = []
    for key in keys:
        shifts = rng.normal(0, kind.shift, kind.runs)
        chances = 1 / (1 + np.exp(-(difficulty + shifts[:, None])))
        found = rng.binomial(golds, chances)
        for i, question in enumerate(questions):
            row, *more = [StoredRow(key, question, outcome(int(k), golds)) for k in found[:, i]]
            rows.append(StoredRow(key, question, row.outcome, repeats=dict(enumerate(more, 1))))
    spec = {
        "instances": [{"id": key, "name": key, "title": key, "line": ""} for key in keys],
        "graphs": [["corpus:aa", "0"]],
        "sample": kind.n,
        "model": False,
    }
    if kind.runs > 1:
        spec |= {"repeats": kind.runs, "varied": [[key, "its draws"] for key in keys]}
    return RunSummary(Run(1, "", spec, 0.0, "done", 0, 0), rows)


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    """Fewer flips of signs, and hardly any resamples for intervals, which rank nothing."""
    monkeypatch.setattr(statistics, "RANDOM_PERMUTATIONS", 199)
    monkeypatch.setattr(statistics, "estimates", partial(statistics.estimates, resamples=50))


def is_different(summary: RunSummary) -> bool:
    """Return whether any method is ranked below another."""
    return max(Ranks(summary, "passage_recall").ranks.values()) > 1


def share_different(kind: Kind, count: int, methods: int = 2) -> float:
    rng = np.random.default_rng([kind.n, kind.is_graded, kind.runs, int(kind.shift * 10), methods])
    return float(np.mean([is_different(aa_summary(kind, rng, methods)) for _ in range(count)]))


def test_an_aa_run_differs_in_3_to_7_of_100():
    kinds = [kind for kind in KINDS if kind.n <= 100]
    shares = [share_different(kind, -(-1000 // len(kinds))) for kind in kinds]
    assert 0.03 <= np.mean(shares) <= 0.07, shares


def test_without_the_repeats_a_shared_shift_would_pass_for_a_difference():
    kind = Kind(200, True, 3, 0.4)
    rng = np.random.default_rng(0)
    called = []
    for _ in range(20):
        summary = aa_summary(kind, rng)
        summary.run.spec["varied"] = []  # only the first runs
        called.append(is_different(summary))
    assert np.mean(called) > 0.2


def test_several_equal_methods_are_told_apart_no_more_often():
    assert share_different(Kind(60, True, 1, 0.0), 100, methods=4) <= 0.09


@pytest.mark.skipif(not RUNS, reason="takes minutes; set HOPSCOPE_AA_RUNS")
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_each_kind_of_aa_run(kind):
    share = share_different(kind, RUNS)
    print(kind, share)
    assert share <= 0.075


def test_the_made_values_are_those_of_the_metric():
    assert metric("passage_recall")(outcome(2, GOLDS)) == pytest.approx(0.4)
    assert metric("passage_recall")(outcome(0, 1)) == 0

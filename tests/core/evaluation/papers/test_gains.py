"""Correlations with what is gained, and quarters by Topological Recall, by hand and against SciPy."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.stats import pearsonr

from core.evaluation.metrics.outcome import Outcome
from core.evaluation.metrics.ranking import GoldRanks
from core.evaluation.metrics.statistics import correlation
from core.evaluation.metrics.topology import UncertaintyByRank
from core.evaluation.papers.experiments import Experiment, PublishedSet
from core.evaluation.papers.gains import gain_correlations, quartiles
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.store import Run, StoredRow
from core.types import Question
from tests.core.evaluation.reports.test_summary import SPEC

PRINTED = {"Films": {"node_recall@10": (0.5,), "miss_tr@10": (None,)}}
MADE = Experiment(
    "made",
    "P",
    "T",
    "M",
    {"b": "B"},
    PRINTED,
    {"Films": PublishedSet("Films", "-")},
    "nobody",
    (),
    1,
    after="a",
)


def one(golds, found, costs):
    """Of `golds` passages the first `found` among the first ten; `costs` are the uncertainties after them."""
    first = tuple(1 + i if i < found else None for i in range(golds))
    near = UncertaintyByRank(golds, 10, tuple(range(len(costs))), (1,) * len(costs), tuple(costs))
    return Outcome(0, nodes=GoldRanks(10, tuple(range(1, found + 1)), first), nearing=near)


@pytest.fixture
def summary():
    """Two passages each: `a` finds 0, 1, 1, 2 of them, and `b` 0, 2, 1, 2."""
    questions = [Question(f"q{i}", f"q{i}", gold=("x", "y")) for i in range(4)]
    begun = [one(2, 0, ()), one(2, 1, (0.0, 1.0)), one(2, 1, (0.0,)), one(2, 2, (0.0, 0.0))]
    ended = [one(2, 0, ()), one(2, 2, (0.0, 0.0)), one(2, 1, (0.0,)), one(2, 2, (0.0, 0.0))]
    rows = [StoredRow("a", asked, found) for asked, found in zip(questions, begun)]
    rows += [StoredRow("b", asked, found) for asked, found in zip(questions, ended)]
    return RunSummary(Run(7, "key", SPEC | {"of": 4, "sample": 4}, 0.0, "done", 8, 0), rows)


def test_gains_by_hand(summary):
    recall, missing = gain_correlations(MADE, "Films", summary)
    # R@10 to begin with 0, .5, .5, 1; gained 0, .5, 0, 0; what MissTR gives: the second passage of q2 is one step away, so 1 / 2 of one of two
    assert recall.rows[0].here.mean == pytest.approx(pearsonr([0, 0.5, 0.5, 1], [0, 0.5, 0, 0])[0])
    assert missing.rows[0].here.mean == pytest.approx(pearsonr([0, 0.25, 0, 0], [0, 0.5, 0, 0])[0])
    assert (recall.rows[0].printed, missing.rows[0].printed) == (
        0.5,
        None,
    ) and recall.metric == "gain with node_recall@10"


def test_quarters_by_hand(summary):
    # Topological Recall of `a`: 0, (1 + 1/2) / 2, 1/2, 1; so the questions are q0, q2, q1, q3
    assert quartiles(summary, "a", "b") == [
        (0.0, 0.0, 1),
        (0.5, 0.5, 1),
        (0.75, 1.0, 1),
        (1.0, 1.0, 1),
    ]


def test_the_interval_is_scipys():
    numbers = np.random.default_rng(0).normal(size=(2, 50))
    numbers[1] += numbers[0]
    found, peer = correlation(*numbers), pearsonr(*numbers)
    interval = peer.confidence_interval()
    assert dataclasses.astuple(found) == pytest.approx(
        (peer.statistic, interval.low, interval.high, 50)
    )
    assert (
        correlation(np.ones(9), np.arange(9.0)).mean is None
        and correlation(np.arange(9.0), -np.arange(9.0)).mean == -1
    )


def ranked_at(*places, count):
    """So many nodes found, with the gold nodes at these places; None for one that was not found."""
    return GoldRanks(count, tuple(place for place in places if place), places)


def test_the_gain_is_capped_recall_at_100_less_that_at_10():
    # Of twelve gold nodes `a` finds 0 to 3 among ten, R@10 n / 10 as ten places hold ten at most. Of `b`'s 147
    # nodes those behind place 100 are not counted: six of twelve, the seventh stands at 147, so R@100 is 6 / 12.
    rows, gold = [], tuple(f"d{n}" for n in range(12))
    at_end = ranked_at(2, 15, 30, 40, 50, 100, 147, *[None] * 5, count=147)
    for n in range(4):
        asked = Question(f"q{n}", f"q{n}", gold=gold)
        begun = ranked_at(*range(1, 1 + n), *[None] * (12 - n), count=10)
        rows.append(StoredRow("a", asked, Outcome(0, nodes=begun)))
        late = at_end if n else ranked_at(2, *[None] * 11, count=147)  # q0: 1 / 12
        rows.append(StoredRow("b", asked, Outcome(0, nodes=late)))
    summary = RunSummary(Run(7, "key", SPEC | {"of": 4, "sample": 4}, 0.0, "done", 8, 0), rows)
    made = dataclasses.replace(MADE, printed={"Films": {"node_recall@10": (0.5,)}})
    (found,) = gain_correlations(made, "Films", summary)
    gained = [1 / 12, 6 / 12 - 1 / 10, 6 / 12 - 2 / 10, 6 / 12 - 3 / 10]
    recall = [n / 12 for n in range(4)]  # the column Recall is that of corollary 1, without a cap
    assert found.rows[0].here.mean == pytest.approx(pearsonr(recall, gained)[0])

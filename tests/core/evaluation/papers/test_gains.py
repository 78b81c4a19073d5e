"""Correlations with what is gained, and quarters by Topological Recall, by hand and against SciPy."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.stats import pearsonr

from core.evaluation.metrics.outcome import Outcome
from core.evaluation.metrics.ranking import Ranked
from core.evaluation.metrics.topology import Nearing
from core.evaluation.papers.experiments import Experiment, PublishedSet
from core.evaluation.papers.gains import correlation, gains, quartiles
from core.evaluation.reports.summary import Summary
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
    near = Nearing(golds, 10, tuple(range(len(costs))), (1,) * len(costs), tuple(costs))
    return Outcome(0, nodes=Ranked(10, tuple(range(1, found + 1)), first), nearing=near)


@pytest.fixture
def summary():
    """Two passages each: `a` finds 0, 1, 1, 2 of them, and `b` 0, 2, 1, 2."""
    questions = [Question(f"q{i}", f"q{i}", gold=("x", "y")) for i in range(4)]
    begun = [one(2, 0, ()), one(2, 1, (0.0, 1.0)), one(2, 1, (0.0,)), one(2, 2, (0.0, 0.0))]
    ended = [one(2, 0, ()), one(2, 2, (0.0, 0.0)), one(2, 1, (0.0,)), one(2, 2, (0.0, 0.0))]
    rows = [StoredRow("a", asked, found) for asked, found in zip(questions, begun)]
    rows += [StoredRow("b", asked, found) for asked, found in zip(questions, ended)]
    return Summary(Run(7, "key", SPEC | {"of": 4, "sample": 4}, 0.0, "done", 8, 0), rows)


def test_gains_by_hand(summary):
    recall, missing = gains(MADE, "Films", summary)
    # begun 0, .5, .5, 1; gained 0, .5, 0, 0; what MissTR gives: the second passage of q2 is one step away, so 1 / 2 of one of two
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


def test_what_is_gained_counts_all_nodes_retrieved_and_not_the_ten_handed_on():
    # Of two gold nodes `b` finds one at place 2 and one at place 15 of 20; of the documents it hands on ten.
    nodes = Ranked(20, (2, 15), (2, 15))
    rows = []
    for i in range(4):
        asked = Question(f"q{i}", f"q{i}", gold=("x", "y"))
        begun = Outcome(
            0,
            nodes=Ranked(
                10,
                tuple(range(1, 1 + i % 3)),
                tuple(1 + place if place < i % 3 else None for place in range(2)),
            ),
        )
        rows += [
            StoredRow("a", asked, begun),
            StoredRow("b", asked, Outcome(0, nodes=nodes, passages=Ranked(10, (2,), (2, None)))),
        ]
    summary = Summary(Run(7, "key", SPEC | {"of": 4, "sample": 4}, 0.0, "done", 8, 0), rows)
    made = dataclasses.replace(MADE, printed={"Films": {"node_recall@10": (0.5,)}})
    (found,) = gains(made, "Films", summary)
    assert found.rows[0].here.mean == pytest.approx(-1)  # 1 less what was there to begin with

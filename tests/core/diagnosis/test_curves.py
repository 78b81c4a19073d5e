"""Curves of a question over the values of a parameter, on the films graph.

They are worked out by hand, and held beside runs with each value.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.comparison.lane import MethodComparison
from core.comparison.lane_run import LaneListener, LaneRun
from core.diagnosis.curves import curves
from core.diagnosis.step_outcomes import step_outcomes
from core.environment import Environment
from core.methods.catalogue import Method
from core.operators.text import parse_line
from core.sources import GraphSource
from core.types import Question
from tests.lanes import lane_of

# From One: Ann and Drama are one hop away, Two two hops (by Ann), 1999 three.
SCORES = {"One -> directed_by -> Ann": 0.9, "One -> has_genre -> Drama": 0.5}
LINE = "EgoNetwork(hops={ego}) >> ShortestPaths(hops={hops}, parallel=False) >> Rank(keep={keep})"


@pytest.fixture
def ran(kit):
    """`ran(line, answers)`: the comparison and the lane of a line on a question that starts at One."""

    def run(line, answers):
        ask = GraphSource.of(kit.graph).ask(
            Question("what of One", entities=("One",), answers=answers), uses_model=False
        )
        lane_run = LaneRun(
            ask, parse_line(line), Environment(kit.Written(encoder=kit.Table(SCORES)))
        )
        lane_run.retrieve(LaneListener())
        lane = lane_of(lane_run, "x", "x")
        return MethodComparison(ask, [lane]), lane

    return run


def line(ego=2, hops=4, keep=1):
    return LINE.format(ego=ego, hops=hops, keep=keep)


def points(curve):
    return dict(zip(curve.values, curve.alive))


def test_the_order_before_the_cut_says_what_more_would_keep(ran):
    """With one path kept Ann is alive, and with two Drama comes in.

    Ann's path is first and Drama's second. The path to Two is third and has no score.
    """
    found = curves(*ran(line(keep=1), ("Ann", "Drama", "Nobody")), 2)["keep"]
    assert (found.value, found.n_targets, found.next_value) == (1, 3, 2)
    assert points(found)[1] == 1 and points(found)[2] == 2


def test_hops_of_a_neighbourhood_are_distances_in_the_graph(ran):
    found = curves(*ran(line(ego=1), ("Ann", "Two", "1999")), 0)["hops"]
    assert found.next_value == 2 and [points(found)[hops] for hops in (1, 2, 3, 4)] == [1, 2, 3, 3]


def test_hops_of_paths_are_distances_in_the_subgraph(ran):
    """Two hops around One do not hold 1999, so no length of path reaches it."""
    found = curves(*ran(line(ego=2, hops=1, keep=9), ("Ann", "Two", "1999")), 1)["hops"]
    assert found.next_value == 2 and [points(found)[hops] for hops in (1, 2, 3)] == [1, 2, 2]


@pytest.mark.parametrize(
    "answers", [("Ann",), ("Drama", "Two"), ("1999", "Ann", "Nobody"), ("One",)]
)
@pytest.mark.parametrize("place, name", [(0, "hops"), (1, "hops"), (2, "keep")])
def test_a_curve_is_what_runs_with_each_value_give(ran, answers, place, name):
    given = [dict(ego=1), dict(hops=1), dict(keep=1)][place]
    found = curves(*ran(line(**{**dict(keep=9, ego=3), **given}), answers), place)[name]
    key = ["ego", "hops", "keep"][place]
    for value, alive in points(found).items():
        comparison, lane = ran(line(**{**dict(keep=9, ego=3), key: value}), answers)
        assert len(step_outcomes(comparison, lane)[place].alive) == alive, (value, answers)


def test_pagerank_is_ranked_beyond_what_it_kept(ran):
    text = "PersonalizedPageRank(keep=1) >> ShortestPaths()"
    found = curves(*ran(text, ("Ann",)), 0)["keep"]
    assert found.alive[0] == 0 and found.next_value is not None
    comparison, lane = ran(text.replace("keep=1", f"keep={found.next_value}"), ("Ann",))
    assert step_outcomes(comparison, lane)[0].alive == ("Ann",)


def test_without_known_answers_or_where_a_branch_chose_there_is_no_curve(ran):
    assert curves(*ran(line(), ()), 2) == {}
    branched = "PredictHops() >> EgoNetwork() >> Branch(on='hops', arms={1: ShortestPaths(hops=1)}, otherwise=ShortestPaths())"
    comparison, lane = ran(line(), ("Ann",))
    changed = replace(lane, method=Method("x", "x", parse_line(branched)))
    assert curves(comparison, changed, 1) == {}


def test_a_chooser_without_an_order_has_no_curve(ran, kit):
    ask = GraphSource.of(kit.graph).ask(
        Question("what of One", entities=("One",), answers=("Ann",)), uses_model=False
    )
    picker = kit.Picker("One -> has_genre -> Drama")
    run = LaneRun(ask, parse_line(line()), Environment(kit.Written(encoder=picker)))
    run.retrieve(LaneListener())
    assert curves(MethodComparison(ask, []), lane_of(run, "x", "x"), 2) == {}

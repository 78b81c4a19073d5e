"""Outcomes of the steps of a lane, by hand on the films graph."""

from __future__ import annotations

from core.comparison.lane import MethodComparison, MethodLane
from core.diagnosis.step_outcomes import step_outcomes
from core.methods.catalogue import Method
from core.operators import EgoNetwork, GraphReader, Rank, ShortestPaths
from core.operators.base import Line
from core.sources import GraphSource, SourceQuestion
from core.types import Question

ANN, DRAMA = "One -> directed_by -> Ann", "One -> has_genre -> Drama"
# paths to Ann, Drama, and Two by way of Ann
LINE = (EgoNetwork(hops=2), ShortestPaths(parallel=False), Rank(keep=1), GraphReader())


def outcomes(kit, *answers, operators=LINE, retrieved=True):
    """Return the outcome of each step of the line on a question that starts at One."""
    state, states = kit.state("One"), []
    context = kit.context(encoder=kit.Table({ANN: 0.9, DRAMA: 0.5}))
    question = Question("a question", answers=answers)
    state = state.replace(question=question)
    for operator in operators:
        state = operator(state, context)
        states.append(state)
    ask = SourceQuestion(GraphSource("films", kit.graph), question, state.seeds, uses_model=False)
    method = Method("x", "x", Line(operators))
    lane = MethodLane(ask, method, tuple(states), retrieved=retrieved)
    return step_outcomes(MethodComparison(ask, [lane]), lane)


def test_each_step_says_what_it_left_and_which_answers_are_alive(kit):
    # Two hops around One lie all five nodes but 1999, with the four edges between them; the ranking keeps Ann alone, Drama was second.
    ego, paths, rank, reader = outcomes(kit, "Ann", "Drama")
    assert (ego.sizes, paths.sizes, rank.sizes) == (
        {"nodes": 4, "edges": 4},
        {"paths": 3},
        {"paths": 1},
    )
    assert [step.alive for step in (ego, paths, rank, reader)] == [
        ("Ann", "Drama"),
        ("Ann", "Drama"),
        ("Ann",),
        ("Ann",),
    ]
    assert (rank.lost, rank.best_rank_words) == (("Drama",), "Drama: rank 2 of 3")
    assert (reader.lost, reader.best_rank_words) == ((), "")


def test_the_nearest_of_several_lost_ones_is_said(kit):
    rank = outcomes(kit, "Two", "Drama", "Ann")[2]
    assert (rank.lost, rank.best_rank_words) == (("Two", "Drama"), "Drama: rank 2 of 3")


def test_what_a_subgraph_leaves_out_is_lost_there(kit):
    ego = outcomes(kit, "1999", "Ann", operators=LINE[:2])[0]
    assert (ego.alive, ego.lost) == (("Ann",), ("1999",)) and ego.best_rank_words.startswith(
        "1999: "
    )


def test_what_the_graph_has_not_was_never_alive(kit):
    ego = outcomes(kit, "Nobody")[0]
    assert (ego.alive, ego.lost, ego.best_rank_words) == (
        (),
        ("Nobody",),
        "Nobody: not in the graph",
    )


def test_without_known_answers_nothing_is_alive_or_lost(kit):
    assert {(step.alive, step.lost) for step in outcomes(kit)} == {(None, ())}


def test_a_run_under_way_says_no_place_yet(kit):
    assert outcomes(kit, "Drama", "Ann", retrieved=False)[2].best_rank_words == ""

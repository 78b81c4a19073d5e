"""PageRank's mass step by step, by hand on the films graph.

The state in which it settles stands beside the exact solution.
"""

from __future__ import annotations

import numpy as np
import pytest

from core.comparison.lane import MethodLane
from core.diagnosis import pagerank_spread
from core.diagnosis.pagerank_spread import MOMENT_STEPS, mass_moments, pagerank_moments
from core.graph.pagerank.exact import solve
from core.graph.pagerank.problem import pose_problem
from core.methods.catalogue import Method
from core.operators import EgoNetwork, GraphReader, PersonalizedPageRank, ShortestPaths
from core.operators.base import Line
from core.sources import GraphSource, SourceQuestion
from core.types import Question


def masses(kit, moment) -> dict[str, float]:
    return {
        name: pytest.approx(mass, abs=1e-9)
        for name, mass in zip(kit.graph.names(list(moment.mass)), moment.mass.values())
    }


def problem(kit, start: str, direction: str, damping: float = 0.5):
    return pose_problem(kit.graph, kit.state(start).seeds, 0, damping, direction)


def test_both_ways_from_one(kit):
    """Half of One's mass goes half to Ann and half to Drama, and so on.

    One has two edges, Ann three (two of them to Two), and Drama one.
    """
    start, first, second, *_ = mass_moments(problem(kit, "One", "both"))
    assert (start.steps, first.steps, second.steps) == (0, 1, 2)
    assert masses(kit, start) == {"One": 1.0}
    assert masses(kit, first) == {"One": 1 / 2, "Ann": 1 / 4, "Drama": 1 / 4}
    assert masses(kit, second) == {"One": 2 / 3, "Ann": 1 / 8, "Drama": 1 / 8, "Two": 1 / 12}
    assert first.moved_mass == pytest.approx(1 / 2) and second.moved_mass == pytest.approx(1 / 4)


def test_what_has_no_step_on_gives_its_mass_back_to_the_start(kit):
    """Along the edges from Two: two of three to Ann, one to 1999, and neither leads on."""
    _, first, second, *_ = mass_moments(problem(kit, "Two", "out"))
    assert masses(kit, first) == {"Two": 1 / 2, "Ann": 1 / 3, "1999": 1 / 6}
    assert masses(kit, second) == {"Two": 3 / 4, "Ann": 1 / 6, "1999": 1 / 12}


@pytest.mark.parametrize("weights", [None, np.array([1.0, 4.0, 1.0, 2.0, 0.5])])
@pytest.mark.parametrize("direction", ["out", "in", "both"])
def test_it_settles_where_the_equation_has_it_and_sums_to_one(kit, direction, weights):
    asked = pose_problem(kit.graph, kit.state("Ann").seeds, 0, 0.8, direction, weights=weights)
    found = mass_moments(asked)
    exact = solve(asked.links, asked.seeds, asked.shares, 0.8, 1e-10)
    assert [found[-1].mass.get(node, 0.0) for node in range(kit.graph.n_nodes)] == pytest.approx(
        (exact / exact.sum()).tolist(), abs=1e-4
    )
    assert [moment.steps for moment in found] == [*MOMENT_STEPS, None]
    assert all(sum(moment.mass.values()) == pytest.approx(1.0) for moment in found)


def lane(kit, *operators) -> MethodLane:
    state, states, context = kit.state("One"), [], kit.context()
    for operator in operators:
        state = operator(state, context)
        states.append(state)
    method = Method("x", "x", Line(operators))
    ask = SourceQuestion(
        GraphSource("films", kit.graph),
        Question("a question"),
        kit.state("One").seeds,
        uses_model=False,
    )
    return MethodLane(ask, method, tuple(states))


def test_the_first_pagerank_of_a_line_is_shown(kit, monkeypatch):
    found = pagerank_moments(
        lane(
            kit,
            PersonalizedPageRank(damping=0.5, direction="both"),
            ShortestPaths(parallel=False),
            GraphReader(),
        )
    )
    assert masses(kit, found[1]) == {"One": 1 / 2, "Ann": 1 / 4, "Drama": 1 / 4}
    assert (
        pagerank_moments(
            lane(kit, EgoNetwork(hops=2), ShortestPaths(parallel=False), GraphReader())
        )
        == ()
    )
    monkeypatch.setattr(pagerank_spread, "MAX_STEPPED_EDGES", 3)
    assert pagerank_moments(lane(kit, PersonalizedPageRank())) == ()
